import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HarnessSources } from "../agent/build.ts";
import { renderTask } from "../agent/task-prompt.ts";
import type { LoadedRecipe } from "../config/load-recipe.ts";
import type { Task } from "../config/recipe-schema.ts";
import { hashOf, sha256 } from "../lib/hash.ts";
import { packageVersion } from "../lib/package-root.ts";
import { createModel } from "../model/create.ts";
import type { Model } from "../model/model.ts";
import { createFence, type Fence } from "../sandbox/fence.ts";
import { chooseLevel, type FenceLevel } from "../sandbox/levels.ts";
import type { Evaluator } from "./evaluators/evaluator.ts";
import { loadEvaluator } from "./evaluators/index.ts";
import { drawSplits, type Splits } from "./splits.ts";
import { loadTasks } from "./tasks.ts";

/** Raised when the runtime changes what a harness does: rollouts of another runtime are never reused. */
const runtimeRevision = 1;

export type SplitName = keyof Splits;

/** What a recipe and a seed give before anything runs: tasks, drawn into splits, and the resources for tools. */
export interface Drawn {
  recipe: LoadedRecipe;
  splits: Splits;
  /** Identifies the tasks and how they are split: looks at the sealed split are counted by it. */
  taskSetHash: string;
  resources: ReadonlyMap<string, string>;
  resourcesHash: string;
  level: FenceLevel;
  model: Model;
  runtime: string;
}

/** One recipe, set up to run rollouts: tasks drawn, resources laid out, fence and model ready. */
export interface Bench {
  recipe: LoadedRecipe;
  splits: Splits;
  taskSetHash: string;
  resources: { dir: string | undefined; names: string[]; hash: string };
  fence: Fence;
  model: Model;
  sampling: Record<string, unknown>;
  evaluator: Evaluator;
  runtime: string;
  /** How many rollouts run at once. */
  concurrency: number;
}

export interface BenchOptions {
  /** Where the resources are laid out, read-only for tools. */
  resourcesDir: string;
  concurrency: number;
  /** Source hashes of the parts that lorimer ships: all that the weakest fence may run. */
  stockHashes: ReadonlySet<string>;
}

/** Loads a recipe's tasks and draws its splits; the seed counts where the recipe does not fix one. */
export async function drawBench(recipe: LoadedRecipe, { seed }: { seed: number }): Promise<Drawn> {
  const { splits: sizes, models, sandbox } = recipe.recipe;
  const { tasks, resources } = await loadTasks(recipe, { seed: sizes.seed ?? seed });
  const splits = drawSplits(tasks, sizes, sizes.seed ?? seed);
  return {
    recipe,
    splits,
    taskSetHash: hashOf(Object.entries(splits).map(([name, list]) => [name, list.map(taskHash)])),
    resources,
    resourcesHash: hashOf([...resources].sort()),
    level: await chooseLevel({ weakest: sandbox }),
    model: createModel(models.agent),
    runtime: `${packageVersion}/${runtimeRevision}`,
  };
}

export async function openBench(drawn: Drawn, options: BenchOptions): Promise<Bench> {
  const { recipe, splits, taskSetHash, resources, resourcesHash, model, runtime } = drawn;
  const { resourcesDir, concurrency, stockHashes } = options;
  const dir = resources.size > 0 ? layOut(resources, resourcesDir) : undefined;
  return {
    recipe,
    splits,
    taskSetHash,
    resources: { dir, names: [...resources.keys()].sort(), hash: resourcesHash },
    fence: await createFence({
      resources: dir,
      weakest: recipe.recipe.sandbox,
      stockHashes,
      maxWorkers: Math.max(2, concurrency * 2),
    }),
    model,
    sampling: recipe.recipe.models.agent.sampling,
    evaluator: await loadEvaluator(recipe, Object.values(splits).flat()),
    runtime,
    concurrency,
  };
}

/** Identifies a task by what it asks and expects, not by its id: two splits may use the same id. */
export function taskHash(task: Task): string {
  return sha256(JSON.stringify([task.id, task.input, task.expected]));
}

/** What a harness is opened with on this bench. */
export function sourcesOf(bench: Bench): HarnessSources {
  return {
    loader: bench.fence.loader,
    resources: bench.resources.dir,
    allowlist: allowlistOf(bench.recipe),
  };
}

/** The tools that a recipe lets any harness call; `*` allows all of them. */
export function allowlistOf({ recipe }: LoadedRecipe): readonly string[] {
  return recipe.spec?.allowlist ?? ["*"];
}

/** The user turn of a task on this bench. */
export function userTurn(bench: Bench, task: Task): string {
  return renderTask(bench.recipe.recipe.spec, task.input);
}

function layOut(resources: ReadonlyMap<string, string>, dir: string): string {
  mkdirSync(dir, { recursive: true });
  for (const [name, text] of resources) writeFileSync(join(dir, name), text);
  return dir;
}
