import { openHarness } from "../../agent/build.ts";
import { runAgent } from "../../agent/loop.ts";
import { type Bench, sourcesOf } from "../../bench/bench.ts";
import { judge } from "../../bench/judge.ts";
import { type Replayed, replayRecord } from "../../bench/replay.ts";
import type { LoadedHarness } from "../../config/harness.ts";
import { createScriptedModel } from "../../model/scripted.ts";
import type { Finding } from "../check.ts";
import { newParts } from "../dry-fire.ts";
import type { ChampionRecord, RunContext, Subject } from "../subject.ts";

/** One record of the champion, run again under the candidate. */
export interface ReplayRow {
  record: ChampionRecord;
  replayed: Replayed;
}

export interface ReplayReport {
  rows: ReplayRow[];
  /** Share of the records considered on which the champion replays itself. */
  selfShare: number;
  findings: Finding[];
}

const recordsPerOutcome = 15;

/** Runs records of the champion again under the candidate with the recorded replies, at no cost. */
export async function replayGate(subject: Subject, context: RunContext): Promise<ReplayReport> {
  const cited = new Set(subject.proposal.evidence.map(({ rollout }) => rollout));
  const chosen = choose(context.records, cited);
  const rows: ReplayRow[] = [];
  for (const record of chosen) {
    const replayed = await replayRecord(context.bench, record.events, {
      harness: subject.harness,
      champion: context.champion,
    });
    rows.push({ record, replayed });
  }
  return {
    rows,
    selfShare: context.selfReplayShare,
    findings: [
      ...crashes(rows),
      ...noOps(rows, subject),
      ...neverFired(rows, subject, context.champion),
      ...(await hijacks(rows, context.bench)),
      ...(await echo(subject.harness, context.bench)),
    ],
  };
}

/** Replayable records, those that are cited first, then in their fixed order; as many passing as failing ones. */
function choose(records: readonly ChampionRecord[], cited: ReadonlySet<string>): ChampionRecord[] {
  const replayable = records.filter((record) => record.replayable);
  const ranked = [...replayable].sort(
    (a, b) => Number(cited.has(b.scored.key)) - Number(cited.has(a.scored.key)),
  );
  const of = (outcome: string) =>
    ranked.filter(({ scored }) => scored.outcome === outcome).slice(0, recordsPerOutcome);
  return [...of("fail"), ...of("pass")];
}

function crashes(rows: readonly ReplayRow[]): Finding[] {
  for (const { record, replayed } of rows) {
    const known = new Set(record.facts.processorErrors.map(({ processor, step }) => `${processor} ${step}`));
    const error = replayed.errors.find(({ processor, step }) => !known.has(`${processor} ${step}`));
    if (error) return [finding("crash", `${error.message} (step ${error.step} of rollout ${short(record)})`)];
    if (replayed.faults.length > 0)
      return [finding("crash", `${replayed.faults[0]} (rollout ${short(record)})`)];
  }
  return [];
}

function noOps(rows: readonly ReplayRow[], { proposal }: Subject): Finding[] {
  if (proposal.lever !== "processor" && proposal.lever !== "config") return [];
  const failing = rows.filter(({ record }) => record.scored.outcome === "fail");
  if (failing.length === 0 || failing.some(({ replayed }) => replayed.divergence !== undefined)) return [];
  return [finding("no-op", `changes nothing on any of ${failing.length} failing records`)];
}

/** A processor must do something at or before a step that its candidate cites. Which one is read off the code. */
function neverFired(
  rows: readonly ReplayRow[],
  { proposal, harness }: Subject,
  champion: LoadedHarness,
): Finding[] {
  const names = newParts(harness, champion).flatMap(({ kind, exportName }) =>
    kind === "processor" ? [exportName] : [],
  );
  if (proposal.lever !== "processor" || names.length === 0) return [];
  const cited = rows.flatMap(({ record, replayed }) =>
    proposal.evidence
      .filter(({ rollout }) => rollout === record.scored.key)
      .map(({ step }) => ({ step, fired: replayed.fired })),
  );
  if (cited.length === 0) return [];
  const idle = names.filter(
    (name) =>
      !cited.some(({ step, fired }) => fired.some((event) => event.processor === name && event.step <= step)),
  );
  return idle.map((name) =>
    finding("never-fires", `${name} does nothing up to any of the ${cited.length} steps that are cited`),
  );
}

/** The model said the same to the end, and yet the answer changed from right to wrong. */
async function hijacks(rows: readonly ReplayRow[], bench: Bench): Promise<Finding[]> {
  const tasks = new Map(bench.splits.evolve.map((task) => [task.id, task]));
  for (const { record, replayed } of rows) {
    const { result, divergence } = replayed;
    const task = tasks.get(record.scored.task);
    if (record.scored.outcome !== "pass" || !result || !divergence || !task) continue;
    // Ended by a limit instead is harm as well, but for the benchmark to weigh.
    if (result.exitReason !== "done" || result.answer === record.facts.answer) continue;
    if ((await judge(bench.evaluator, result, task)).outcome !== "fail") continue;
    const who = divergence.cause.name;
    return [
      finding("output-hijack", `${who} turns a right answer into a wrong one (rollout ${short(record)})`),
    ];
  }
  return [];
}

/** The shipped echo task: whatever the harness is, it must reach the model and end. */
async function echo(loaded: LoadedHarness, bench: Bench): Promise<Finding[]> {
  let asked = 0;
  const model = createScriptedModel(() => {
    asked++;
    return "ready";
  });
  const { harness, close } = await openHarness(loaded, sourcesOf(bench));
  let faults: string[] = [];
  const { exitReason, error } = await runAgent({
    harness,
    task: 'Say "ready".',
    model,
    sampling: {},
    seed: 0,
    sink: () => {},
    policy: bench.recipe.recipe.policy,
    guided: true,
  }).finally(async () => {
    faults = await close();
  });
  if (asked > 0 && exitReason === "done")
    return faults
      .slice(0, 1)
      .map((fault) => finding("echo", `the echo task leaves something behind: ${fault}`));
  return [
    finding(
      "echo",
      `the echo task ends with ${exitReason} after ${asked} requests${error ? `: ${error}` : ""}`,
    ),
  ];
}

function finding(kind: string, message: string): Finding {
  return { kind, message };
}

function short(record: ChampionRecord): string {
  return record.scored.key.slice(0, 12);
}
