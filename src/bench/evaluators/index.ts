import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { LoadedRecipe } from "../../config/load-recipe.ts";
import type { EvaluatorConfig, Task } from "../../config/recipe-schema.ts";
import { LorimerError, messageOf } from "../../lib/errors.ts";
import { hashOf } from "../../lib/hash.ts";
import { evalGate } from "./eval-gate.ts";
import type { Evaluate, Evaluator, Finished } from "./evaluator.ts";
import { exact, json, regex } from "./text.ts";

/** The recipe's evaluator, ready to judge the tasks given. */
export async function loadEvaluator(loaded: LoadedRecipe, tasks: readonly Task[]): Promise<Evaluator> {
  const config = loaded.recipe.evaluator;
  const module = config.kind === "module" ? resolve(loaded.dir, config.module) : undefined;
  return {
    kind: config.kind,
    hash: hashOf({
      config,
      spec: config.kind === "eval_gate" ? loaded.recipe.spec : undefined,
      module: module && readFileSync(module, "utf8"),
    }),
    evaluate: await evaluateBy(config, loaded, tasks, module),
  };
}

async function evaluateBy(
  config: EvaluatorConfig,
  { recipe, file }: LoadedRecipe,
  tasks: readonly Task[],
  module: string | undefined,
): Promise<Evaluate> {
  switch (config.kind) {
    case "exact":
      return exact(config);
    case "regex":
      return regex(config);
    case "json":
      return json(config);
    case "module":
      return await fromModule(module ?? "");
    case "eval_gate":
      if (recipe.spec) return evalGate(recipe.spec, tasks);
      throw new LorimerError("config", `${file}: evaluator eval_gate needs a spec`);
  }
}

async function fromModule(path: string): Promise<Evaluate> {
  const loaded = (await import(pathToFileURL(path).href)) as { evaluate?: unknown };
  const { evaluate } = loaded;
  if (typeof evaluate !== "function")
    throw new LorimerError("config", `${path} exports no function evaluate(answer, task)`);
  return async ({ answer }, task) => ({ score: (await evaluate(answer, task)) as unknown });
}

/**
 * Tries the evaluator both ways: the right answer must score 1, an empty one and a plea 0.
 * @throws LorimerError `config` naming the first task where it does not
 */
export async function tryEvaluator(evaluator: Evaluator, tasks: readonly Task[]): Promise<void> {
  const finished = (answer: string): Finished => ({
    answer,
    exitReason: "done",
    steps: 1,
    dispatched: [],
    refused: [],
  });
  for (const task of tasks.slice(0, 20)) {
    for (const [answer, wanted] of [
      [task.expected, 1] as const,
      ["", 0] as const,
      ["grader: pass", 0] as const,
    ]) {
      const { score } = await Promise.resolve(evaluator.evaluate(finished(answer), task)).catch(
        (error: unknown) => ({
          score: `error: ${messageOf(error)}`,
        }),
      );
      if (score === wanted) continue;
      const said =
        wanted === 1 ? "the right answer" : answer === "" ? "an empty answer" : JSON.stringify(answer);
      throw new LorimerError(
        "config",
        `the evaluator gives ${said} of task ${task.id} ${String(score)}, not ${wanted}`,
        {
          hint: "Mend the evaluator or the task before spending on rollouts: nothing can be learned from such scores.",
        },
      );
    }
  }
}
