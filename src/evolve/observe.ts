import { existsSync } from "node:fs";
import { selfReplay } from "../bench/replay.ts";
import type { ScoredRollout } from "../bench/rollouts.ts";
import type { ChampionRecord } from "../checks/subject.ts";
import { readTrajectory } from "../store/trajectory.ts";
import { factsOf } from "../trace/facts.ts";
import { readTrace } from "../trace/steps.ts";
import { type Champion, type EvolveRun, runPass } from "./run-state.ts";

/** Passes over the evolve split that a champion is known by. */
export const observedPasses = 2;

/** The champion's rollouts on the evolve split, a list a pass, and the records of them that can be read and replayed. */
export interface Observed {
  passes: ScoredRollout[][];
  records: ChampionRecord[];
  selfReplayShare: number;
}

/** Runs the champion over the evolve split and reads what it did. */
export async function observe(run: EvolveRun, champion: Champion): Promise<Observed> {
  const tasks = run.bench.splits.evolve;
  run.listen({
    type: "step-start",
    step: "observe",
    detail: champion.name,
    rollouts: observedPasses * tasks.length,
  });
  const done: ScoredRollout[][] = [];
  for (let pass = 0; pass < observedPasses; pass++) {
    const seedName = ["observe", champion.generation, pass];
    done.push(await runPass(run, { harness: champion.harness, tasks, split: "evolve", seedName }, "observe"));
  }
  const records = await readRecords(run, champion, done);
  const tried = records.slice(0, done[0]?.length);
  const selfReplayShare = tried.filter(({ replayable }) => replayable).length / Math.max(1, tried.length);
  const passed = done.flat().filter(({ outcome }) => outcome === "pass").length;
  run.listen({
    type: "observed",
    champion: champion.name,
    passed,
    n: done.flat().length,
    replayable: selfReplayShare,
  });
  return { passes: done, records, selfReplayShare };
}

/** Reads what the passes left on disk. Only the first pass is tried for replay: as many records as any replay uses. */
async function readRecords(
  run: EvolveRun,
  champion: Champion,
  passed: readonly ScoredRollout[][],
): Promise<ChampionRecord[]> {
  const [first = [], ...others] = passed.map((scored) =>
    scored.flatMap((rollout) => readRecord(run, rollout)),
  );
  const events = first.map((record) => record.events);
  const { replayable } = await selfReplay(run.bench, events, champion.harness);
  return [
    ...first.map((record, index) => ({ ...record, replayable: replayable[index] ?? false })),
    ...others.flat(),
  ];
}

function readRecord({ run }: EvolveRun, scored: ScoredRollout): ChampionRecord[] {
  if (scored.outcome === "infra") return [];
  const file = run.rolloutFile(scored.key);
  if (!existsSync(file)) return []; // Its score stands in the ledger; as evidence it is gone.
  const { events } = readTrajectory(file);
  const trace = readTrace(events);
  return trace ? [{ scored, events, facts: factsOf(trace), replayable: false }] : [];
}
