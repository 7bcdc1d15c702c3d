import { LorimerError } from "../lib/errors.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import { type Arm, type EvolveRun, loadGeneration } from "./run-state.ts";
import { publish } from "./score.ts";

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
  const rollouts = bench.recipe.recipe.budgets.scoring_passes * tasks.length;
  run.listen({ type: "step-start", step: "score", detail: "sealed split", rollouts });
  const arm: Arm = { harness, tasks, split: "test", seedName: ["final", generation] };
  const { onNewTasks, passes, tasks: size, ...published } = await publish(run, arm, "final");
  const numbers = { looks, passes, tasks: size, on_new_tasks: onNewTasks };
  return await ledger.append({ type: "final", generation, ...published, numbers });
}
