import { resolve } from "node:path";
import type { Command } from "commander";
import { parse } from "yaml";
import { z } from "zod";
import { type LoadedRecipe, loadRecipe } from "../config/load-recipe.ts";
import { type ModelConfig, modelSchema } from "../config/recipe-schema.ts";
import { withoutGaps } from "../evolve/decide.ts";
import { type OpenRun, startRun } from "../evolve/open.ts";
import { type Arm, baselineDir, loadOn, runPass } from "../evolve/run-state.ts";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { showInterval, table } from "../report/format.ts";
import { progressListener } from "../report/progress.ts";
import { scoreEstimate } from "../stats/intervals.ts";
import { openGenerations } from "../store/generations.ts";
import { openRun } from "../store/run-folder.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";
import { interruptSignal } from "./interrupt.ts";
import { atLeast } from "./numbers.ts";

interface RunFlags extends RunOptions {
  task?: string;
  generation?: string;
  run?: string;
  model?: ModelConfig;
  split: "evolve" | "gate";
  seed: number;
  concurrency: number;
}

export function registerRun(program: Command, context: CommandContext): void {
  program
    .command("run")
    .description("one pass of a recipe with one harness, without evolving: a scoreboard")
    .argument("<recipe>", "folder of a recipe")
    .option("--task <id>", "this task only")
    .option("--generation <gen>", "gen/0003 of --run, or a folder; without it the recipe's baseline")
    .option("--run <run>", "where --generation is looked up", "latest")
    .option(
      "--model <yaml>",
      "another agent model than the recipe's, such as '{kind: sim, compliance: 1}'",
      modelOption,
    )
    .option("--split <split>", "evolve or gate", "evolve")
    .option("--seed <n>", "draws tasks and seeds", atLeast(0), 1)
    .option("--concurrency <n>", "rollouts at once", atLeast(1), 4)
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((recipe: string, flags: RunFlags) => onePass(context, recipe, flags));
}

async function onePass(context: CommandContext, path: string, flags: RunFlags): Promise<void> {
  if (!["evolve", "gate"].includes(flags.split))
    throw new LorimerError("usage", `--split ${flags.split}: only evolve or gate`, {
      hint: "The test split is sealed: `lorimer final` scores it, once.",
    });
  const { terminal } = context;
  const recipe = withModel(loadRecipe(resolve(context.cwd, path)), flags.model);
  const harnessDir = await harnessFolder(context, recipe, flags);
  const interrupt = interruptSignal(terminal);
  const { listen } = progressListener(terminal.screen);
  const runsDir = runsDirOf(context, flags);
  const opened = await startRun(recipe, {
    runsDir,
    seed: flags.seed,
    concurrency: flags.concurrency,
    signal: interrupt.signal,
    listen,
    overrides: {},
    onePass: true,
  });
  try {
    const harness = loadOn(opened.bench, harnessDir);
    const tasks = tasksOf(opened, flags);
    const arm: Arm = { harness, tasks, split: flags.split, seedName: ["run", 0] };
    const scored = await runPass(opened, arm, "run");
    const { kind, name } = opened.bench.model;
    const { mean, onSuite, onNewTasks } = scoreEstimate(withoutGaps([scored.map(({ score }) => score)]));
    const missing = scored.filter(({ score }) => score === null).length;
    const document = {
      run: opened.run.id,
      model: { kind, name },
      fence: opened.bench.fence.level,
      split: flags.split,
      seed: flags.seed,
      n: scored.length - missing,
      without_score: missing,
      score: mean,
      interval: onSuite,
      on_new_tasks: onNewTasks,
      tasks: scored.map(({ task, outcome, score, exit_reason, steps, key }) => ({
        task,
        outcome,
        score,
        exit_reason,
        steps,
        rollout: key,
      })),
    };
    if (flags.json) return terminal.json(document);
    const rows = document.tasks.map(({ task, outcome, exit_reason, steps, rollout }) => [
      task,
      outcome,
      exit_reason,
      String(steps),
      rollout.slice(0, 12),
    ]);
    terminal.result(
      [
        table([["task", "outcome", "ended by", "steps", "rollout"], ...rows]),
        "",
        `${mean.toFixed(3)} ${showInterval(onNewTasks)} on new tasks like these, n ${document.n}, one pass; model kind ${kind}, seed ${flags.seed}, split ${flags.split}`,
        ...(missing > 0 ? [`${missing} rollouts have no score and are not in it`] : []),
        ...(flags.split === "evolve" && flags.generation !== undefined
          ? [
              "proposers saw these tasks: as a score of an evolved harness this is too high; --split gate is nearer",
            ]
          : []),
        `kept in ${opened.run.dir}; one of them: lorimer trajectory ${rows[0]?.[4] ?? "ROLLOUT"} --run ${opened.run.id}`,
      ].join("\n"),
    );
  } finally {
    interrupt.release();
    await opened.close();
  }
}

function tasksOf({ bench }: OpenRun, { split, task: wanted }: RunFlags) {
  const tasks = bench.splits[split];
  if (wanted === undefined) return tasks;
  const found = tasks.filter(({ id }) => id === wanted);
  if (found.length > 0) return found;
  throw new LorimerError("missing", `the ${split} split has no task ${wanted}`, {
    hint: `It has ${tasks
      .slice(0, 3)
      .map(({ id }) => id)
      .join(", ")} and ${tasks.length - 3} more.`,
  });
}

async function harnessFolder(
  context: CommandContext,
  recipe: LoadedRecipe,
  flags: RunFlags,
): Promise<string> {
  if (flags.generation === undefined) return baselineDir(recipe);
  if (!/^(gen\/)?\d+$/.test(flags.generation)) return resolve(context.cwd, flags.generation);
  const run = openRun(runsDirOf(context, flags), flags.run);
  const generations = await openGenerations(run.generationsDir, { readOnly: true });
  return await generations.exportTree(Number(flags.generation.replace("gen/", "")), run.exportsDir);
}

function modelOption(text: string): ModelConfig {
  const hint = "`lorimer schema recipe` shows what a model may have.";
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new LorimerError("usage", `--model ${text}: ${messageOf(error)}`, { hint, cause: error });
  }
  const parsed = modelSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new LorimerError("usage", `--model ${text}: ${z.prettifyError(parsed.error)}`, { hint });
}

function withModel(recipe: LoadedRecipe, model: ModelConfig | undefined): LoadedRecipe {
  return model === undefined ? recipe : { ...recipe, recipe: { ...recipe.recipe, models: { agent: model } } };
}
