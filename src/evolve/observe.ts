import { selfReplay } from "../bench/replay.ts";
import type { ScoredRollout } from "../bench/rollouts.ts";
import type { ChampionRecord } from "../checks/subject.ts";
import { readTrajectory } from "../store/trajectory.ts";
import { factsOf } from "../trace/facts.ts";
import { readTrace } from "../trace/steps.ts";
import { type Champion, type EvolveRun, runPass } from "./run-state.ts";

const passes = 2;

/** The champion's rollouts on the evolve split, a list a pass, and the records of them that can be read and replayed. */
export interface Observed {
  passes: ScoredRollout[][];
  records: ChampionRecord[];
}

/** Runs the champion over the evolve split and reads what it did. */
export async function observe(run: EvolveRun, champion: Champion): Promise<Observed> {
  const tasks = run.bench.splits.evolve;
  run.listen({ type: "step-start", step: "observe", detail: champion.name, rollouts: passes * tasks.length });
  const done: ScoredRollout[][] = [];
  for (let pass = 0; pass < passes; pass++) {
    const seedName = ["observe", champion.generation, pass];
    done.push(await runPass(run, { harness: champion.harness, tasks, split: "evolve", seedName }, "observe"));
  }
  const records = await readRecords(run, champion, done.flat());
  const replayable = records.filter((record) => record.replayable).length;
  const passed = done.flat().filter(({ outcome }) => outcome === "pass").length;
  run.listen({
    type: "observed",
    champion: champion.name,
    passed,
    n: done.flat().length,
    replayable: replayable / records.length,
  });
  return { passes: done, records };
}

async function readRecords(
  run: EvolveRun,
  champion: Champion,
  scored: readonly ScoredRollout[],
): Promise<ChampionRecord[]> {
  const read = scored.flatMap((rollout) => {
    if (rollout.outcome === "infra") return [];
    const { events } = readTrajectory(run.run.rolloutFile(rollout.key));
    const trace = readTrace(events);
    return trace ? [{ scored: rollout, events, facts: factsOf(trace) }] : [];
  });
  const { replayable } = await selfReplay(
    run.bench,
    read.map(({ events }) => events),
    champion.harness,
  );
  return read.map((record, index) => ({ ...record, replayable: replayable[index] ?? false }));
}
