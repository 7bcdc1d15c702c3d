import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadCandidate, loadProposal } from "../../src/checks/canonicalize.ts";
import { freeze } from "../../src/checks/freeze.ts";
import { specInputs } from "../../src/checks/tool-spec.ts";
import { diffHarness } from "../../src/config/diff.ts";
import type { LoadedHarness } from "../../src/config/harness.ts";
import { enableBuiltin, moreSteps, tighterCap } from "../../src/proposers/mechanic/config-rules.ts";
import { mechanic } from "../../src/proposers/mechanic/mechanic.ts";
import {
  finishNudge,
  inputCap,
  repeatGuard,
  toolErrorTail,
} from "../../src/proposers/mechanic/processor-rules.ts";
import { answerFormat, requiredCall } from "../../src/proposers/mechanic/prompt-rules.ts";
import type { Rule } from "../../src/proposers/mechanic/rule.ts";
import { findInRecords, similarRecords } from "../../src/proposers/mechanic/tool-rules.ts";
import type { Brief } from "../../src/proposers/proposer.ts";
import { baseline, brief, call, facts } from "./facts.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-mechanic-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const rules: Record<string, Rule> = {
  moreSteps,
  enableBuiltin,
  tighterCap,
  answerFormat,
  requiredCall,
  inputCap,
  finishNudge,
  toolErrorTail,
  repeatGuard,
  similarRecords,
  findInRecords,
};

/** Lets the mechanic write a candidate on `given` and loads it as a champion would be. */
async function champion(given: Brief): Promise<LoadedHarness> {
  const dir = mkdtempSync(join(scratch, "champion-"));
  await mechanic.propose(given, dir);
  return load(dir);
}

function load(dir: string): LoadedHarness {
  const loaded = loadCandidate(dir, { allowlist: ["*"] });
  if ("findings" in loaded) throw new Error(JSON.stringify(loaded.findings));
  return loaded.harness;
}

const prose = "I would pass this on to rooms.";
const asking = brief({ failing: facts(4, { answer: prose }) });
const lost = "There is nothing to compare this with, so I keep to loans.";
const flooding = { taskChars: 5000, repeats: [{ step: 1, name: "similar_records" }] };
const withFormat = await champion(asking);
const withTool = await champion(
  brief({ failing: facts(4, { answer: "DESK rooms", said: [{ step: 0, text: lost }] }) }),
);
const withCap = await champion(
  brief({
    failing: facts(4, { ...flooding, said: [{ step: 1, text: "similar_records again" }] }),
  }),
);

/** For each rule a brief that speaks for it, and for no other. */
const cases: [rule: string, given: Brief][] = [
  ["answerFormat", asking],
  ["finishNudge", { ...asking, champion: withFormat }],
  ["moreSteps", brief({ failing: facts(3, { exitReason: "max_steps", calls: [call()] }) })],
  [
    "enableBuiltin",
    brief({ failing: facts(3, { calls: [call({ name: "Glob", disposition: "unknown" })] }) }),
  ],
  ["tighterCap", brief({ failing: facts(3, { taskChars: 5000 }), champion: withCap })],
  ["requiredCall", brief({ failing: facts(3, { unused: ["similar_records"] }), champion: withTool })],
  ["inputCap", brief({ failing: facts(3, { taskChars: 5000 }) })],
  ["toolErrorTail", brief({ failing: facts(3, { calls: [call({ isError: true, resultChars: 900 })] }) })],
  ["repeatGuard", brief({ failing: facts(3, { repeats: [{ step: 2, name: "Read" }] }) })],
  ["similarRecords", brief({ failing: facts(3, { said: [{ step: 0, text: lost }] }) })],
  [
    "findInRecords",
    brief({ failing: facts(3, { calls: [call({ name: "search_files", disposition: "unknown" })] }) }),
  ],
];

describe.each(cases)("the rule %s", (name, given) => {
  const rule = rules[name] as Rule;

  test("fires on facts made for it, alone", () => {
    const fired = Object.keys(rules).filter((each) => rules[each]?.diagnose(given) !== undefined);
    expect(fired).toEqual([name]);
    const diagnosis = rule.diagnose(given);
    expect(diagnosis?.share).toBeGreaterThan(0);
    expect(diagnosis?.share).toBeLessThanOrEqual(1);
  });

  test("does not fire on one rollout only, or on none", () => {
    expect(rule.diagnose({ ...given, failing: given.failing.slice(0, 1) })).toBeUndefined();
    expect(rule.diagnose({ ...given, failing: [] })).toBeUndefined();
  });

  test("writes a candidate that can be frozen and loaded, and pulls the lever that it names", async () => {
    const dir = mkdtempSync(join(scratch, "candidate-"));
    await mechanic.propose(given, dir);
    const { frozen, findings } = freeze(dir);
    expect(findings).toEqual([]);
    const harness = load(dir);
    const proposal = loadProposal(dir);
    expect(proposal).toMatchObject({ parent: "gen/0000", lever: rule.lever });
    expect(diffHarness(given.champion, harness).leversTouched).toEqual([rule.lever]);
    expect(proposal?.signature).toEqual(rule.diagnose(given)?.signature);
    expect(frozen.files.has("_meta_scratch/TOOL_SPEC.md")).toBe(rule.lever === "tool");
    const spec = frozen.files.get("_meta_scratch/TOOL_SPEC.md");
    if (spec) expect(specInputs(spec)).toContain("- message: question number 0, in words");
  });

  test("is not proposed on its own champion again", async () => {
    const diagnosis = rule.diagnose(given);
    const signature = Object.values(diagnosis?.signature ?? {})[0] ?? "";
    const past = {
      candidate: "R01-C01",
      lever: rule.lever,
      signature,
      hypothesis: "",
      becameChampion: false,
      failedChecks: [],
    };
    const dir = mkdtempSync(join(scratch, "again-"));
    await mechanic.propose({ ...given, tried: [{ ...past, parent: "gen/0000" }] }, dir);
    expect(loadProposal(dir)).toBeUndefined();
    await mechanic.propose({ ...given, tried: [{ ...past, parent: "gen/0001" }] }, dir);
    expect(loadProposal(dir)?.lever).toBe(rule.lever);
  });
});

describe("what is there already is not proposed", () => {
  test("a tool, a processor, a sentence of the prompt", () => {
    const failing = facts(3, { said: [{ step: 0, text: lost }], ...flooding });
    expect(similarRecords.diagnose(brief({ failing, champion: withTool }))).toBeUndefined();
    expect(inputCap.diagnose(brief({ failing, champion: withCap }))).toBeUndefined();
    expect(answerFormat.diagnose({ ...asking, champion: withFormat })).toBeUndefined();
  });

  test("more steps than the recipe's ceiling", () => {
    const failing = facts(3, { exitReason: "max_steps", calls: [call()] });
    const ceilings = { ...brief().ceilings, max_steps: baseline.config.limits.max_steps };
    expect(moreSteps.diagnose(brief({ failing, ceilings }))).toBeUndefined();
  });
});

describe("what cannot help is not proposed", () => {
  const failing = facts(3, { said: [{ step: 0, text: lost }] });

  test("a tool over records that are not there", () => {
    expect(similarRecords.diagnose(brief({ failing, resources: [] }))).toBeUndefined();
    expect(similarRecords.diagnose(brief({ failing, resources: ["notes.txt"] }))).toBeUndefined();
  });

  test("a tool that the recipe's allowlist would refuse", () => {
    const spec = brief().spec;
    if (spec === undefined) throw new Error("the recipe has a spec");
    const closed = { ...spec, allowlist: ["Read"] };
    expect(similarRecords.diagnose(brief({ failing, spec: closed }))).toBeUndefined();
    const open = { ...spec, allowlist: ["Read", "similar_records"] };
    expect(similarRecords.diagnose(brief({ failing, spec: open }))).toBeDefined();
  });

  test("a tool for one task, however often that fails", () => {
    const same = [0, 1, 2].map((seed) => ({ ...failing[0], rollout: `seed-${seed}` })) as typeof failing;
    expect(similarRecords.diagnose(brief({ failing: same }))).toBeUndefined();
  });
});

test("the answer form is the one that passing answers show", () => {
  const passing = facts(2, { answer: "It is about a due date.\nQUEUE: loans" });
  const diagnosis = answerFormat.diagnose({ ...asking, passing });
  const draft = { config: structuredClone(baseline.config), files: new Map<string, string>() };
  diagnosis?.apply(draft);
  expect(draft.files.get("prompts/system.md")).toBe(
    'You help at the desk of a small library.\nEnd with one line of the form "QUEUE: <desk>", where <desk> is one of catalogue, rooms, loans.\n',
  );
});
