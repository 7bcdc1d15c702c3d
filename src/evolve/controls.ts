import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "../checks/run-checks.ts";
import { LorimerError } from "../lib/errors.ts";
import { BudgetReached } from "../model/budget.ts";
import { confirmationAlpha } from "../stats/alpha-budget.ts";
import { judgeArms, scoresOf } from "./evaluate.ts";
import { hashedMemoriser, plainMemoriser } from "./memoriser.ts";
import { type Champion, type EvolveRun, loadOn, loadOptions, meanScore, runPass } from "./run-state.ts";
import { firstFailure } from "./validate.ts";

/**
 * Controls: what must not be accepted is offered like anything else, and the verdict is shown. They commit nothing and
 * spend nothing of the run's error budget.
 */
export async function runControls(run: EvolveRun, champion: Champion, round: number): Promise<void> {
  const { null_every: every, memoriser } = run.bench.recipe.recipe.controls;
  if (every > 0 && (round - 1) % every === every - 1)
    await control(run, round, "champion against itself", () => nullControl(run, champion, round));
  if (!memoriser || round !== 1) return;
  await control(run, round, "memoriser, in plain words", () => plainControl(run, champion));
  await control(run, round, "memoriser, hashed", () => hashedControl(run, champion));
}

interface Outcome {
  verdict: string;
  reason: string;
  numbers: Record<string, unknown>;
}

async function control(
  run: EvolveRun,
  round: number,
  name: string,
  offer: () => Promise<Outcome>,
): Promise<void> {
  const known = run.ledger.find("control", (record) => record.round === round && record.control === name);
  const { verdict, numbers } = known ?? (await recorded());
  run.listen({ type: "control", control: name, verdict, reason: String(numbers["reason"]) });

  async function recorded() {
    run.listen({
      type: "step-start",
      step: "control",
      detail: name,
      rollouts: 2 * run.bench.splits.gate.length,
    });
    const { verdict: said, reason, numbers: facts } = await offer();
    return await run.ledger.append({
      type: "control",
      round,
      control: name,
      verdict: said,
      numbers: { ...facts, reason },
    });
  }
}

/** The level at which the next candidate would be judged; a control is judged at it and does not use it up. */
function nextAlpha({ bench, ledger }: EvolveRun): number {
  return confirmationAlpha(bench.recipe.recipe.budgets.alpha, ledger.all("verdict").length + 1);
}

/** The champion as its own second arm, on fresh seeds: how often is nothing taken for something? */
async function nullControl(
  run: EvolveRun,
  { harness, generation }: Champion,
  round: number,
): Promise<Outcome> {
  const { decision, reason, ...numbers } = await judgeArms(run, {
    champion: { harness, seedName: ["null", generation, round, "first"] },
    candidate: { harness, seedName: ["null", generation, round, "second"] },
    alpha: nextAlpha(run),
    purpose: "control",
  });
  return { verdict: decision, reason, numbers };
}

/** Rare words of the training tasks in the prompt: the literals check must refuse it. */
async function plainControl(run: EvolveRun, champion: Champion): Promise<Outcome> {
  const dir = controlDir(run, "plain");
  plainMemoriser(champion.harness, materialOf(run), dir);
  const { ok, checks } = await runChecks(dir, {
    load: loadOptions(run.bench),
    literals: run.literals,
  });
  return ok
    ? { verdict: "passed the checks", reason: "the literals check did not see it", numbers: {} }
    : { verdict: "refused", reason: firstFailure(checks), numbers: {} };
}

/** The same, hashed so that no check can read it: the gate, on tasks that it has not seen, must not accept it. */
async function hashedControl(run: EvolveRun, champion: Champion): Promise<Outcome> {
  const dir = controlDir(run, "hashed");
  hashedMemoriser(champion.harness, materialOf(run), dir);
  const { ok, checks } = await runChecks(dir, {
    load: loadOptions(run.bench),
    literals: run.literals,
  });
  if (!ok) return { verdict: "refused", reason: firstFailure(checks), numbers: {} };
  try {
    const harness = loadOn(run.bench, dir);
    const tasks = run.bench.splits.evolve;
    const seen = await runPass(
      run,
      { harness, tasks, split: "evolve", seedName: ["memoriser", champion.generation] },
      "control",
    );
    const { decision, reason, ...numbers } = await judgeArms(run, {
      champion: { harness: champion.harness, seedName: ["memoriser", champion.generation, "champion"] },
      candidate: { harness, seedName: ["memoriser", champion.generation, "candidate"] },
      alpha: nextAlpha(run),
      purpose: "control",
    });
    const onEvolve = meanScore(seen) ?? 0;
    const shown = `${onEvolve.toFixed(2)} on the tasks it memorised, ${(numbers.candidate ?? 0).toFixed(2)} on the gate (champion ${(numbers.champion ?? 0).toFixed(2)}): ${reason}`;
    return {
      verdict: decision,
      reason: shown,
      numbers: { ...numbers, evolve: onEvolve, covered: scoresOf(seen).length },
    };
  } catch (error) {
    // The weakest fence runs only what lorimer ships, and this control is generated code.
    if (error instanceof LorimerError && error.code === "refused" && !(error instanceof BudgetReached))
      return { verdict: "not run", reason: error.message, numbers: {} };
    throw error;
  }
}

function materialOf({ bench: { splits, resources } }: EvolveRun) {
  const { dir, names } = resources;
  const common = dir === undefined ? [] : names.map((name) => readFileSync(join(dir, name), "utf8"));
  return { tasks: splits.evolve, common };
}

function controlDir({ run }: EvolveRun, name: string): string {
  const dir = join(run.dir, "controls", name);
  rmSync(dir, { recursive: true, force: true });
  return dir;
}
