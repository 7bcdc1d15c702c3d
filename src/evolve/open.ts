import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { allowlistOf, type Bench, type Drawn, drawBench, openBench } from "../bench/bench.ts";
import { loadHarness } from "../config/load-harness.ts";
import { type LoadedRecipe, loadRecipe } from "../config/load-recipe.ts";
import { LorimerError } from "../lib/errors.ts";
import { Budget, type BudgetCaps } from "../model/budget.ts";
import { mechanic } from "../proposers/mechanic/mechanic.ts";
import { stockHashes } from "../proposers/mechanic/stock.ts";
import { type Generation, generationTag } from "../store/generation-history.ts";
import { openGenerations } from "../store/generations.ts";
import { foldInbox } from "../store/inbox.ts";
import { Ledger } from "../store/ledger.ts";
import { acquireLock } from "../store/lock.ts";
import { createRun, type RunFolder } from "../store/run-folder.ts";
import type { RunListener } from "../trace/run-events.ts";
import { literalCorpora } from "./literal-corpora.ts";
import { baselineDir, type EvolveLimits, type EvolveRun, loadOn } from "./run-state.ts";

export interface OpenOptions {
  concurrency: number;
  signal: AbortSignal;
  listen: RunListener;
  /** Over the recipe's budgets. */
  overrides: Partial<EvolveLimits> & { usd?: number };
}

/** A run that this process holds the lock of. */
export interface OpenRun extends EvolveRun {
  close(): Promise<void>;
}

/** Starts a run of a recipe in a new folder. */
export async function startRun(
  recipe: LoadedRecipe,
  {
    runsDir,
    seed,
    onePass = false,
    ...options
  }: OpenOptions & { runsDir: string; seed: number; onePass?: boolean },
): Promise<OpenRun> {
  // What can be found wrong without a run is found before there is one.
  loadHarness(baselineDir(recipe), { ceilings: recipe.recipe.ceilings, allowlist: allowlistOf(recipe) });
  const drawn = await drawBench(recipe, { seed });
  const ids = (tasks: { id: string }[]) => tasks.map(({ id }) => id);
  const { evolve, gate, test } = drawn.splits;
  const run = createRun(runsDir, recipe.recipe.name, {
    recipe: { name: recipe.recipe.name, dir: recipe.dir, hash: recipe.hash },
    resources_hash: drawn.resourcesHash,
    runtime: drawn.runtime,
    seed,
    model: { kind: drawn.model.kind, name: drawn.model.name },
    fence: drawn.level,
    splits: { evolve: ids(evolve), gate: ids(gate), test: ids(test) },
    task_set_hash: drawn.taskSetHash,
    options: { ...limitsOf(recipe.recipe.budgets, options.overrides), ...(onePass && { one_pass: true }) },
  });
  try {
    return await openRun(run, drawn, options);
  } catch (error) {
    rmSync(run.dir, { recursive: true, force: true }); // Nothing was paid for in it yet.
    throw error;
  }
}

/**
 * Opens a run again, to go on with it. What it was started with must still be there unchanged.
 * @throws LorimerError `config` naming what has changed, `locked` when another process has it
 */
export async function resumeRun(
  run: RunFolder,
  options: OpenOptions & { recipeDir?: string },
): Promise<OpenRun> {
  const { manifest } = run;
  if (manifest.options["one_pass"] === true)
    throw new LorimerError("usage", `${run.id} is a single pass of \`lorimer run\`: it evolves nothing`, {
      hint: "Start an evolution with `lorimer evolve RECIPE`.",
    });
  const recipe = loadRecipe(options.recipeDir ?? manifest.recipe.dir);
  if (recipe.recipe.name !== manifest.recipe.name)
    throw new LorimerError(
      "usage",
      `${run.id} is a run of ${manifest.recipe.name}, not of ${recipe.recipe.name}`,
      {
        hint: "A run goes on with the recipe that it was started with; leave the recipe out.",
      },
    );
  const drawn = await drawBench(recipe, { seed: manifest.seed });
  const now = {
    recipe: recipe.hash,
    tasks: drawn.taskSetHash,
    resources: drawn.resourcesHash,
    runtime: drawn.runtime,
  };
  const then = {
    recipe: manifest.recipe.hash,
    tasks: manifest.task_set_hash,
    resources: manifest.resources_hash,
    runtime: manifest.runtime,
  };
  const changed = (Object.keys(then) as (keyof typeof then)[]).filter((name) => now[name] !== then[name]);
  if (changed.length > 0)
    throw new LorimerError(
      "config",
      `run ${run.id} cannot go on: ${changed.join(", ")} changed since it was started`,
      {
        hint: "Put back what it was, or start a new run.",
      },
    );
  return await openRun(run, drawn, options);
}

async function openRun(run: RunFolder, drawn: Drawn, options: OpenOptions): Promise<OpenRun> {
  const lock = acquireLock(run.dir);
  let bench: Bench | undefined;
  let ledger: Ledger | undefined;
  const close = async () => {
    await bench?.fence.close();
    await ledger?.close();
    lock.release();
  };
  try {
    ledger = await Ledger.open(run.ledgerFile);
    refuseFinished(run, ledger);
    const generations = await openGenerations(run.generationsDir);
    const { adopt } = await generations.verify(ledger.all("committed"));
    for (const generation of adopt) await adoptGeneration(run, ledger, generation);
    await foldInbox(run, ledger);
    bench = await openBench(drawn, {
      resourcesDir: join(run.dir, "resources"),
      concurrency: options.concurrency,
      stockHashes: stockHashes(),
    });
    const { budgets } = drawn.recipe.recipe;
    const started = startedWith.parse(run.manifest.options);
    const caps = { rollouts: budgets.rollouts, usd: options.overrides.usd ?? budgets.usd };
    return {
      bench,
      run,
      ledger,
      generations,
      budget: new Budget(caps, spentBefore(ledger)),
      literals: literalCorpora(bench, loadOn(bench, baselineDir(drawn.recipe))),
      seed: run.manifest.seed,
      limits: limitsOf(started, options.overrides),
      proposers: [mechanic],
      signal: options.signal,
      listen: options.listen,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Takes in a commit that a kill kept out of the ledger. A trailer alone proves nothing: the verdict must be there. */
async function adoptGeneration(run: RunFolder, ledger: Ledger, generation: Generation): Promise<void> {
  const { number, commit, tree, trailers } = generation;
  const candidate = trailers["Candidate"] ?? null;
  const accepted = ledger.find(
    "verdict",
    (record) => record.candidate === candidate && record.verdict === "accept",
  );
  if (number > 0 && accepted === undefined)
    throw new LorimerError(
      "infra",
      `git has ${generationTag(number)} of ${run.id}, but the ledger has no verdict that accepts it`,
      {
        hint: "Put the repository back to the newest generation of `lorimer log`, or start a new run.",
      },
    );
  await ledger.append({ type: "committed", generation: number, candidate, commit, tree });
}

function refuseFinished(run: RunFolder, ledger: Ledger): void {
  if (ledger.all("final").length === 0) return;
  throw new LorimerError("refused", `run ${run.id} was scored on its sealed split and is closed`, {
    hint: "What came after would be chosen with the test in view. Start a new run.",
  });
}

function spentBefore(ledger: Ledger): BudgetCaps {
  const scored = ledger.all("rollout-scored");
  return { rollouts: scored.length, usd: scored.reduce((sum, { cost_usd }) => sum + cost_usd, 0) };
}

/** The limits that a run was started with: they hold on resume, unless it is given others. */
const startedWith = z.object({ rounds: z.number(), candidates: z.number(), patience: z.number() });

function limitsOf(given: z.infer<typeof startedWith>, overrides: OpenOptions["overrides"]): EvolveLimits {
  return {
    rounds: overrides.rounds ?? given.rounds,
    candidates: overrides.candidates ?? given.candidates,
    patience: overrides.patience ?? given.patience,
    until: overrides.until,
  };
}
