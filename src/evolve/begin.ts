import { tryEvaluator } from "../bench/evaluators/index.ts";
import { instantiate } from "../checks/canonicalize.ts";
import { LorimerError } from "../lib/errors.ts";
import { generationTag } from "../store/generation-history.ts";
import { observedPasses } from "./observe.ts";
import { baselineDir, type Champion, type EvolveRun, loadGeneration, loadOn } from "./run-state.ts";
import { scoreBaseline } from "./score.ts";
import { committedFiles } from "./tree.ts";

const saturated = 0.98;

/** Generation 0: the recipe's baseline, committed and scored, once the evaluator is known to tell right from wrong. */
export async function begin(run: EvolveRun): Promise<Champion> {
  const { bench, ledger, generations } = run;
  const drawn = [...bench.splits.evolve, ...bench.splits.gate];
  await tryEvaluator(bench.evaluator, drawn);
  await refuseUnbuilt(run);
  refuseSmallBudget(run);
  if (!ledger.find("run-started", () => true)) await ledger.append({ type: "run-started", run: run.run.id });
  if (!ledger.find("committed", (record) => record.generation === 0)) {
    const baseline = loadOn(bench, baselineDir(bench.recipe));
    const { commit, tree } = await generations.commitGeneration({
      number: 0,
      files: committedFiles(baseline),
      subject: `Start from the baseline of ${bench.recipe.recipe.name}`,
      trailers: {
        "Candidate-Hash": baseline.generationHash,
        "Model-Kind": bench.model.kind,
        Seed: String(run.seed),
      },
    });
    await ledger.append({ type: "committed", generation: 0, candidate: null, commit, tree });
    run.listen({ type: "committed", generation: generationTag(0), candidate: null, commit });
  }
  const champion = await loadGeneration(run, 0);
  const score = await scoreBaseline(run, champion);
  if (score !== null && score >= saturated)
    throw new LorimerError(
      "refused",
      `the baseline already scores ${score.toFixed(3)}: there is nothing to gain`,
      {
        hint: "Use harder tasks, or an evaluator that asks for more.",
      },
    );
  return champion;
}

/** A baseline that cannot be built in the fence would fail every rollout alike. */
async function refuseUnbuilt({ bench }: EvolveRun): Promise<void> {
  const [finding] = await instantiate(loadOn(bench, baselineDir(bench.recipe)), bench);
  if (finding === undefined) return;
  throw new LorimerError(
    "config",
    `the baseline cannot be built: ${finding.file ?? "config.yaml"}: ${finding.message}`,
    {
      hint: "`lorimer doctor RECIPE` tries it.",
    },
  );
}

/** A budget that cannot judge even one candidate would be spent for nothing. */
function refuseSmallBudget({ bench }: EvolveRun): void {
  const { rollouts, scoring_passes } = bench.recipe.recipe.budgets;
  const { evolve, gate } = bench.splits;
  const scoring = 2 * scoring_passes * gate.length;
  const oneCandidate = (observedPasses + 1) * evolve.length + 2 * gate.length;
  if (rollouts >= scoring + oneCandidate) return;
  throw new LorimerError(
    "config",
    `a budget of ${rollouts} rollouts cannot judge one candidate: scoring takes ${scoring}, a candidate at least ${oneCandidate}`,
    { hint: "Raise budgets.rollouts, or make the splits smaller." },
  );
}
