import { scoreEstimate } from "../stats/intervals.ts";
import { neededCoverage, withoutGaps } from "./decide.ts";
import { scoresOf } from "./evaluate.ts";
import { type Champion, type EvolveRun, runPass } from "./run-state.ts";

/** Rollouts that decide nothing, for the score that is published; null when too few of them have one. */
async function scoreBatch(
  run: EvolveRun,
  which: "baseline" | "champion",
  { generation, harness, name }: Champion,
): Promise<number | null> {
  const { bench, ledger } = run;
  const { scoring_passes: passes } = bench.recipe.recipe.budgets;
  const tasks = bench.splits.gate;
  const known = ledger.find(
    "score-batch",
    (record) => record.which === which && record.generation === generation,
  );
  const record = known ?? (await runBatch());
  const { score, interval, n } = record;
  run.listen({ type: "scored", which: `${which} (${name})`, score, interval, n });
  return score;

  async function runBatch() {
    run.listen({
      type: "step-start",
      step: "score",
      detail: `${which} ${name}`,
      rollouts: passes * tasks.length,
    });
    const rows: (number | null)[][] = [];
    for (let pass = 0; pass < passes; pass++) {
      const seedName = ["score", generation, pass];
      rows.push(scoresOf(await runPass(run, { harness, tasks, split: "gate", seedName }, "score")));
    }
    const all = rows.flat();
    const covered = all.filter((score) => score !== null).length;
    const enough = covered / all.length >= neededCoverage;
    const estimate = scoreEstimate(withoutGaps(rows));
    return await ledger.append({
      type: "score-batch",
      which,
      generation,
      score: enough ? estimate.mean : null,
      n: covered,
      interval: enough ? [estimate.onSuite.low, estimate.onSuite.high] : null,
      numbers: {
        passes,
        tasks: tasks.length,
        on_new_tasks: [estimate.onNewTasks.low, estimate.onNewTasks.high],
      },
    });
  }
}

export function scoreBaseline(run: EvolveRun, champion: Champion): Promise<number | null> {
  return scoreBatch(run, "baseline", champion);
}

export function scoreChampion(run: EvolveRun, champion: Champion): Promise<number | null> {
  return scoreBatch(run, "champion", champion);
}
