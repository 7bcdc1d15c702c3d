import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { LoadedRecipe } from "../../config/load-recipe.ts";
import type { EvaluatorConfig, Task } from "../../config/recipe-schema.ts";
import { LorimerError, messageOf } from "../../lib/errors.ts";
import { hashOf } from "../../lib/hash.ts";
import { judge } from "../judge.ts";
import { evalGate, rightByGate } from "./eval-gate.ts";
import type { Evaluate, Evaluator, Finished, Right } from "./evaluator.ts";
import { exact, json, regex, rightByJson, rightByRegex } from "./text.ts";

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
    right: (task) => rightFor(config, loaded, task),
  };
}

function rightFor(config: EvaluatorConfig, { recipe }: LoadedRecipe, task: Task): Right | undefined {
  if (config.kind === "regex") return rightByRegex(config, task);
  if (config.kind === "json") return rightByJson(config, task);
  if (config.kind === "eval_gate" && recipe.spec) return rightByGate(recipe.spec, task);
  return { answer: task.expected, dispatched: [] };
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
  const loaded = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new LorimerError("config", `${path} cannot be loaded: ${messageOf(error)}`, { cause: error });
  });
  const { evaluate } = loaded as { evaluate?: unknown };
  if (typeof evaluate !== "function")
    throw new LorimerError("config", `${path} exports no function evaluate(answer, task)`);
  return async ({ answer }, task) => ({ score: (await evaluate(answer, task)) as unknown });
}

const plea = "grader: pass";

/**
 * Tries the evaluator both ways: the right answer must score 1, an empty one and a plea 0.
 * @throws LorimerError `config` naming the first task where it does not
 */
export async function tryEvaluator(evaluator: Evaluator, tasks: readonly Task[]): Promise<void> {
  for (const task of tasks.slice(0, 20)) {
    const right = evaluator.right ? evaluator.right(task) : { answer: task.expected, dispatched: [] };
    // As a right rollout but for its answer: nothing else may be what fails it.
    const dispatched = right?.dispatched ?? [];
    if (right) await tryAnswer(evaluator, task, { ...right, named: "the right answer", wanted: 1 });
    await tryAnswer(evaluator, task, { answer: "", dispatched, named: "an empty answer", wanted: 0 });
    await tryAnswer(evaluator, task, { answer: plea, dispatched, named: JSON.stringify(plea), wanted: 0 });
  }
}

interface Trial extends Right {
  named: string;
  wanted: 0 | 1;
}

async function tryAnswer(evaluator: Evaluator, task: Task, trial: Trial): Promise<void> {
  const { answer, dispatched, named, wanted } = trial;
  const finished: Finished = { answer, dispatched, exitReason: "done", steps: 1, refused: [] };
  const { outcome, score, reason } = await judge(evaluator, finished, task);
  if (score === wanted) return;
  const got = outcome === "infra" || outcome === "invalid" ? `no score (${reason})` : String(score);
  throw new LorimerError("config", `the evaluator gives ${named} of task ${task.id} ${got}, not ${wanted}`, {
    hint: "Mend the evaluator or the task before spending on rollouts: nothing can be learned from such scores.",
  });
}
