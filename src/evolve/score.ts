import { worstCase } from "../model/create.ts";
import { scoreEstimate } from "../stats/intervals.ts";
import { neededCoverage, withoutGaps } from "./decide.ts";
import { scoresOf } from "./evaluate.ts";
import { type Arm, type Champion, type EvolveRun, runPass } from "./run-state.ts";

/** A score with both intervals, of rollouts that decided nothing; nulls when too few of them have one. */
export interface Published {
  score: number | null;
  /** Rollouts with a score. */
  n: number;
  interval: [number, number] | null;
  onNewTasks: [number, number] | null;
  passes: number;
  tasks: number;
}

/** Runs the passes of an arm that are to be published, on seeds that nothing else uses. */
export async function publish(run: EvolveRun, arm: Arm, purpose: string): Promise<Published> {
  const passes = run.bench.recipe.recipe.budgets.scoring_passes;
  const rows: (number | null)[][] = [];
  for (let pass = 0; pass < passes; pass++)
    rows.push(scoresOf(await runPass(run, { ...arm, seedName: [...arm.seedName, pass] }, purpose)));
  const n = rows.flat().filter((score) => score !== null).length;
  const size = { n, passes, tasks: arm.tasks.length };
  if (n / rows.flat().length < neededCoverage)
    return { ...size, score: null, interval: null, onNewTasks: null };
  const { mean, onSuite, onNewTasks } = scoreEstimate(withoutGaps(rows));
  const ends = ({ low, high }: { low: number; high: number }): [number, number] => [low, high];
  return { ...size, score: mean, interval: ends(onSuite), onNewTasks: ends(onNewTasks) };
}

/** Scores generation 0, then keeps back what scoring the champion will need: a run never ends without a score. */
export async function scoreBaseline(run: EvolveRun, champion: Champion): Promise<number | null> {
  const score = await scoreBatch(run, "baseline", champion);
  const rollouts = run.bench.recipe.recipe.budgets.scoring_passes * run.bench.splits.gate.length;
  run.budget.keep({
    rollouts,
    usd: rollouts * worstCase(run.bench.model, champion.harness.config.limits.max_cost_usd),
  });
  return score;
}

export async function scoreChampion(run: EvolveRun, champion: Champion): Promise<number | null> {
  run.budget.keep({ rollouts: 0, usd: 0 });
  return await scoreBatch(run, "champion", champion);
}

async function scoreBatch(
  run: EvolveRun,
  which: "baseline" | "champion",
  { generation, harness, name }: Champion,
): Promise<number | null> {
  const { bench, ledger } = run;
  const known = ledger.find(
    "score-batch",
    (record) => record.which === which && record.generation === generation,
  );
  const { score, interval, n } = known ?? (await runBatch());
  run.listen({ type: "scored", which: `${which} (${name})`, score, interval, n });
  return score;

  async function runBatch() {
    const tasks = bench.splits.gate;
    const rollouts = bench.recipe.recipe.budgets.scoring_passes * tasks.length;
    run.listen({ type: "step-start", step: "score", detail: `${which} ${name}`, rollouts });
    const arm: Arm = { harness, tasks, split: "gate", seedName: ["score", generation] };
    const { onNewTasks, passes, tasks: size, ...published } = await publish(run, arm, "score");
    const numbers = { passes, tasks: size, on_new_tasks: onNewTasks };
    return await ledger.append({ type: "score-batch", which, generation, ...published, numbers });
  }
}
