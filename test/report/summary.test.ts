import { describe, expect, it } from "vitest";
import { renderJournal } from "../../src/report/journal.ts";
import { refusals, summarise } from "../../src/report/summary.ts";
import { summaryText } from "../../src/report/summary-text.ts";
import { LedgerView } from "../../src/store/ledger.ts";
import type { LedgerRecord } from "../../src/store/ledger-records.ts";
import type { RunFolder } from "../../src/store/run-folder.ts";
import { manifest } from "../store/manifest.ts";

const run = {
  id: "a-0001",
  manifest: { ...manifest, v: 1, id: "a-0001", created: "2024-01-01T00:00:00Z" },
} as unknown as RunFolder;

type Entry = LedgerRecord extends infer Member
  ? Member extends LedgerRecord
    ? Omit<Member, "v" | "seq" | "at">
    : never
  : never;

function ledgerOf(...entries: Entry[]): LedgerView {
  return new LedgerView(
    entries.map((entry, index) => ({ v: 1, seq: index + 1, at: "", ...entry }) as LedgerRecord),
  );
}

const proposed = (candidate: string, lever: "tool" | "prompt") =>
  ({
    type: "candidate-proposed",
    candidate,
    round: 1,
    proposer: "mechanic",
    parent: 0,
    lever,
    hypothesis: `why ${candidate}`,
    hash: "h",
    behaviour: "b",
  }) as const;
const checked = (candidate: string, ok: boolean): Entry => ({
  type: "candidate-checked",
  candidate,
  ok,
  checks: [
    {
      name: "literals",
      status: ok ? "pass" : "fail",
      findings: ok ? [] : [{ kind: "task-id", message: "names t-1" }],
    },
  ],
});

const ledger = ledgerOf(
  { type: "run-started", run: "a-0001" },
  { type: "committed", generation: 0, candidate: null, commit: "c0", tree: "t0" },
  { type: "round-started", round: 1, champion: 0 },
  proposed("R01-C01", "tool"),
  proposed("R01-C02", "prompt"),
  proposed("R01-C03", "tool"),
  proposed("R01-C04", "prompt"),
  checked("R01-C01", false),
  checked("R01-C02", true),
  checked("R01-C03", true),
  checked("R01-C04", true),
  { type: "screened", candidate: "R01-C02", passed: true, numbers: { effect: 0.2, reason: "up" } },
  { type: "screened", candidate: "R01-C03", passed: false, numbers: { reason: "no gain" } },
  { type: "screened", candidate: "R01-C04", passed: true, numbers: { effect: 0.1, reason: "up a little" } },
  {
    type: "verdict",
    candidate: "R01-C02",
    verdict: "accept",
    reason: "E 100",
    numbers: { effect: 0.25, interval: { low: 0.1, high: 0.4 } },
  },
  { type: "committed", generation: 1, candidate: "R01-C02", commit: "c1", tree: "t1" },
  {
    type: "control",
    round: 1,
    control: "champion against itself",
    verdict: "reject",
    numbers: { reason: "futile" },
  },
  {
    type: "score-batch",
    which: "baseline",
    generation: 0,
    score: 0.1,
    n: 30,
    interval: [0.05, 0.2],
    numbers: { on_new_tasks: [0.02, 0.3] },
  },
  {
    type: "score-batch",
    which: "champion",
    generation: 1,
    score: 0.4,
    n: 30,
    interval: [0.3, 0.5],
    numbers: { on_new_tasks: [0.2, 0.6] },
  },
  { type: "run-ended", stopped_by: "1 rounds" },
);

describe("the summary", () => {
  it("is a fold over the ledger", () => {
    expect(summarise(run, ledger, { memo: 3, seconds: 1.5 })).toMatchObject({
      run: "a-0001",
      rounds: 1,
      accepted: 1,
      rejected: 2,
      indecisive: 0,
      levers: { prompt: 1 },
      champion: { generation: 1, score: 0.4, interval: [0.3, 0.5], on_new_tasks: [0.2, 0.6], n: 30 },
      baseline: { generation: 0, score: 0.1 },
      rollouts: { paid: 0, forked: 0, memo: 3 },
      stopped_by: "1 rounds",
      seconds: 1.5,
    });
  });

  it("counts as refused what was refused, not what was passed over", () => {
    expect(refusals(ledger)).toEqual([
      { candidate: "R01-C01", lever: "tool", by: "literals", reason: "names t-1" },
      { candidate: "R01-C03", lever: "tool", by: "screen", reason: "no gain" },
    ]);
  });

  it("says the model kind, n, seed and both intervals beside every score", () => {
    const text = summaryText(summarise(run, ledger), ledger);
    const { kind } = manifest.model;
    expect(text).toContain(`model kind ${kind}, seed ${manifest.seed}`);
    expect(text).toContain(
      "champion gen/0001: 0.400 [0.30, 0.50] on this suite, [0.20, 0.60] on new tasks like these (n 30)",
    );
    expect(text).toMatch(/gen\/0001\s+R01-C02\s+prompt\s+\+0\.250\s+\[0\.10, 0\.40\]\s+E 100/);
  });

  it("has no score, and says so, where too few rollouts had one", () => {
    const unscored = ledgerOf({
      type: "score-batch",
      which: "baseline",
      generation: 0,
      score: null,
      n: 4,
      interval: null,
      numbers: {},
    });
    expect(summaryText(summarise(run, unscored), unscored)).toContain("baseline gen/0000: no score");
  });
});

describe("the journal", () => {
  it("tells each round's candidates and what became of them", () => {
    const text = renderJournal("a-0001", ledger);
    expect(text).toContain("## Round 1, champion gen/0000");
    expect(text).toContain("refused by literals: names t-1");
    expect(text).toContain("accept, committed as gen/0001: E 100");
    expect(text).toContain("ended by the screen: no gain");
    expect(text).toContain("passed over: a sibling was accepted first");
    expect(text).toContain("control, champion against itself: reject");
  });
});
