import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import type { PartLoader } from "../../src/agent/parts.ts";
import type { Bench } from "../../src/bench/bench.ts";
import { exact } from "../../src/bench/evaluators/text.ts";
import type { LoadedHarness } from "../../src/config/harness.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import type { LoadedRecipe } from "../../src/config/load-recipe.ts";
import { type Recipe, recipeSchema, type Task } from "../../src/config/recipe-schema.ts";
import type { Model } from "../../src/model/model.ts";
import { createScriptedModel } from "../../src/model/scripted.ts";
import { inProcessLoader } from "../support/in-process.ts";

export const task = (expected: string, id = "t1"): Task => ({ id, input: `What is ${id}?`, expected });

/** A recipe with these keys; what is left out does not matter. */
export function recipeOf(keys: Partial<Record<keyof Recipe, unknown>> = {}, dir = "/recipe"): LoadedRecipe {
  const recipe = recipeSchema.parse({
    name: "tiny",
    tasks: { file: "tasks.jsonl" },
    splits: { evolve: 1, gate: 1 },
    evaluator: { kind: "exact" },
    models: { agent: { kind: "scripted", replies: ["x"] } },
    ...keys,
  });
  return { dir, file: join(dir, "recipe.yaml"), recipe, hash: "recipe" };
}

interface BenchParts {
  model?: Model;
  loader?: PartLoader;
  recipe?: LoadedRecipe;
  /** Folder of the resources. */
  resources?: string;
}

/** A bench of one task, without a fence unless a loader is given. */
export function benchOf({ model, loader, recipe = recipeOf(), resources }: BenchParts): Bench {
  return {
    recipe,
    splits: { evolve: [task("The answer.")], gate: [], test: [] },
    taskSetHash: "tasks",
    resources: { dir: resources, names: [], hash: "resources" },
    fence: { level: "weak", loader: loader ?? inProcessLoader(), close: async () => {} },
    model: model ?? createScriptedModel(["The answer."]),
    sampling: {},
    evaluator: { kind: "exact", hash: "exact", evaluate: exact({ kind: "exact", ignore_case: false }) },
    runtime: "test",
    concurrency: 1,
  };
}

/** A folder for a test file's files, and a writer of harness configs into it. */
export function harnessFolder(): { dir: string; harness(files: Record<string, string>): LoadedHarness } {
  const dir = mkdtempSync(join(tmpdir(), "lorimer-bench-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  let count = 0;
  return {
    dir,
    harness(files) {
      const folder = join(dir, `harness-${count++}`);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      return loadHarness(folder);
    },
  };
}
