import type { Lever } from "../config/harness-schema.ts";
import { foldNotes } from "../store/inbox.ts";
import type { LedgerView } from "../store/ledger.ts";
import type { RunFolder } from "../store/run-folder.ts";

/** A published score: of rollouts that decided nothing. */
export interface PublishedScore {
  generation: number;
  score: number | null;
  /** On this suite, 95 %. */
  interval: readonly [number, number] | null;
  /** On new tasks like these, 95 %. */
  on_new_tasks: readonly [number, number] | null;
  n: number;
}

/** Where a run stands: a fold over its ledger, and the JSON of `evolve --json` and `status --json`. */
export interface RunSummary {
  run: string;
  model_kind: string;
  fence: string;
  seed: number;
  rounds: number;
  accepted: number;
  rejected: number;
  indecisive: number;
  champion: PublishedScore | null;
  baseline: PublishedScore | null;
  levers: Partial<Record<Lever, number>>;
  needs_open: number;
  rollouts: { paid: number; forked: number; memo: number };
  cost_usd: number;
  seconds: number | null;
  stopped_by: string | null;
}

/** `measured` is what only the process knows that ran it. */
export function summarise(
  run: RunFolder,
  ledger: LedgerView,
  measured: { memo: number; seconds: number | null } = { memo: 0, seconds: null },
): RunSummary {
  const accepted = ledger.all("committed").filter(({ candidate }) => candidate !== null);
  const levers: Partial<Record<Lever, number>> = {};
  for (const { candidate } of accepted) {
    const lever = ledger.find("candidate-proposed", (record) => record.candidate === candidate)?.lever;
    if (lever) levers[lever] = (levers[lever] ?? 0) + 1;
  }
  const verdicts = ledger.all("verdict");
  const scored = ledger.all("rollout-scored");
  return {
    run: run.id,
    model_kind: run.manifest.model.kind,
    fence: run.manifest.fence,
    seed: run.manifest.seed,
    rounds: ledger.all("round-started").length,
    accepted: accepted.length,
    rejected: refusals(ledger).length,
    indecisive: verdicts.filter(({ verdict }) => verdict === "indecisive").length,
    champion: published(ledger, "champion"),
    baseline: published(ledger, "baseline"),
    levers,
    needs_open: foldNotes(ledger.records).filter(({ status }) => status === "open").length,
    rollouts: { paid: scored.length, forked: 0, memo: measured.memo },
    cost_usd: scored.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    seconds: measured.seconds,
    stopped_by: ledger.all("run-ended").at(-1)?.stopped_by ?? null,
  };
}

function published(ledger: LedgerView, which: "baseline" | "champion"): PublishedScore | null {
  const batch = ledger
    .all("score-batch")
    .filter((record) => record.which === which)
    .at(-1);
  if (batch === undefined) return null;
  const { generation, score, interval, n, numbers } = batch;
  return {
    generation,
    score,
    interval,
    on_new_tasks: (numbers["on_new_tasks"] as [number, number] | undefined) ?? null,
    n,
  };
}

export interface Refusal {
  candidate: string;
  lever: string;
  by: string;
  reason: string;
}

/** Every candidate that was refused, with who refused it and why; what was only passed over is not among them. */
export function refusals(ledger: LedgerView): Refusal[] {
  return ledger.all("candidate-proposed").flatMap(({ candidate, lever, noop }): Refusal[] => {
    if (noop !== undefined) return [];
    const refusal = refusalOf(ledger, candidate);
    return refusal ? [{ candidate, lever: lever ?? "none", ...refusal }] : [];
  });
}

function refusalOf(ledger: LedgerView, candidate: string): Pick<Refusal, "by" | "reason"> | undefined {
  const checked = ledger.find("candidate-checked", (record) => record.candidate === candidate);
  const failed = checked?.checks.find(({ status }) => status === "fail");
  if (failed)
    return { by: failed.name, reason: failed.findings.find((finding) => !finding.warning)?.message ?? "" };
  const screened = ledger.find("screened", (record) => record.candidate === candidate);
  if (screened && !screened.passed) return { by: "screen", reason: String(screened.numbers["reason"]) };
  const verdict = ledger.find("verdict", (record) => record.candidate === candidate);
  return verdict?.verdict === "reject" ? { by: "confirmation", reason: verdict.reason } : undefined;
}
