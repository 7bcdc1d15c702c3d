import { LorimerError } from "../lib/errors.ts";
import { scoreEstimate } from "../stats/intervals.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import { neededCoverage, withoutGaps } from "./decide.ts";
import { scoresOf } from "./evaluate.ts";
import { type EvolveRun, loadGeneration, runPass } from "./run-state.ts";

/** Scores the champion on the sealed test split. `looks`: how often this task set was looked at, this time included. */
export async function scoreFinal(run: EvolveRun, looks: number): Promise<LedgerRecordOf<"final">> {
  const { bench, ledger, generations } = run;
  const tasks = bench.splits.test;
  const generation = generations.list().length - 1;
  if (tasks.length === 0)
    throw new LorimerError("config", "the recipe has no test split", {
      hint: "Give `splits.test` a size and start a new run.",
    });
  if (generation < 0)
    throw new LorimerError("missing", `${run.run.id} has no generation yet`, {
      hint: "`lorimer evolve --resume` first.",
    });
  const { harness } = await loadGeneration(run, generation);
  const { scoring_passes: passes } = bench.recipe.recipe.budgets;
  run.listen({ type: "step-start", step: "score", detail: "sealed split", rollouts: passes * tasks.length });
  const rows: (number | null)[][] = [];
  for (let pass = 0; pass < passes; pass++) {
    const arm = { harness, tasks, split: "test" as const, seedName: ["final", generation, pass] };
    rows.push(scoresOf(await runPass(run, arm, "final")));
  }
  const missing = rows.flat().filter((score) => score === null).length;
  const enough = 1 - missing / rows.flat().length >= neededCoverage;
  const { mean, onSuite, onNewTasks } = scoreEstimate(withoutGaps(rows));
  return await ledger.append({
    type: "final",
    generation,
    score: enough ? mean : null,
    n: rows.flat().length - missing,
    interval: enough ? [onSuite.low, onSuite.high] : null,
    numbers: {
      looks,
      passes,
      tasks: tasks.length,
      without_score: missing,
      on_new_tasks: [onNewTasks.low, onNewTasks.high],
    },
  });
}
