import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { LoadedRecipe } from "../config/load-recipe.ts";
import { type Task, taskSchema } from "../config/recipe-schema.ts";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";

/** What a recipe's task module gets; it returns `{ tasks, resources? }`, or a promise of it. */
interface TaskModuleContext {
  /** The run's seed: equal seeds must give equal tasks. */
  seed: number;
  splits: LoadedRecipe["recipe"]["splits"];
  /** `tasks.options` of recipe.yaml. */
  options: Record<string, unknown>;
  recipeDir: string;
}

interface LoadedTasks {
  tasks: Task[];
  /** Text by flat file name: what tools may read. */
  resources: Map<string, string>;
}

const resourceName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, "letters, digits, dots, dashes; no folders");
const moduleResultSchema = z.strictObject({
  tasks: z.array(taskSchema).min(1),
  resources: z.record(resourceName, z.string()).default({}),
});

/**
 * The tasks of a recipe, from its file or module, and its resources, sorted by name.
 * @throws LorimerError `config` with the place, when a task, resource or the module is wrong
 */
export async function loadTasks(recipe: LoadedRecipe, { seed }: { seed: number }): Promise<LoadedTasks> {
  const { tasks: source } = recipe.recipe;
  const { tasks, resources } =
    "file" in source
      ? { tasks: readTaskFile(join(recipe.dir, source.file), source.group), resources: {} }
      : await runTaskModule(recipe, source, seed);
  const files =
    recipe.recipe.resources === undefined ? {} : readFolder(join(recipe.dir, recipe.recipe.resources));
  const clash = Object.keys(files).find((name) => name in resources);
  if (clash !== undefined) {
    throw new LorimerError(
      "config",
      `${recipe.file}: the resource ${clash} is in the folder and comes from the module`,
      {
        hint: "Rename one of them.",
      },
    );
  }
  const all = Object.entries({ ...files, ...resources }).sort(([a], [b]) => (a < b ? -1 : 1));
  return { tasks, resources: new Map(all) };
}

function readTaskFile(file: string, groupField: string | undefined): Task[] {
  const places = new Map<string, number>();
  const tasks = readText(file)
    .split("\n")
    .flatMap((line, index) => {
      if (line.trim() === "") return [];
      const place = `${file}:${index + 1}`;
      const task = parseTask(line, place, groupField);
      const earlier = places.get(task.id);
      if (earlier !== undefined) {
        throw new LorimerError("config", `${place}: the id ${task.id} stands on line ${earlier} too`, {
          hint: "Give every task an id of its own.",
        });
      }
      places.set(task.id, index + 1);
      return [task];
    });
  if (tasks.length === 0) {
    throw new LorimerError("config", `${file}: there are no tasks in it`, {
      hint: `Each line is a task: ${sample}`,
    });
  }
  return tasks;
}

const sample = '{"id": "1", "input": "…", "expected": "…"}';

function parseTask(line: string, place: string, groupField: string | undefined): Task {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new LorimerError("config", `${place}: not JSON (${messageOf(error)})`, {
      hint: `Each line is a task: ${sample}`,
      cause: error,
    });
  }
  const parsed = taskSchema.safeParse(groupField === undefined ? value : withGroup(value, groupField, place));
  if (parsed.success) return parsed.data;
  throw new LorimerError("config", `${place}: ${issuesOf(parsed.error)}`, {
    hint: `Each line is a task: ${sample}`,
  });
}

/** The task with its group taken from a field of its own or of its input. */
function withGroup(value: unknown, field: string, place: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { [field]: own, ...task } = value as Record<string, unknown>;
  const inputs = "input" in task && typeof task.input === "object" && task.input !== null ? task.input : {};
  const group = own ?? (inputs as Record<string, unknown>)[field];
  if (typeof group === "string" || typeof group === "number") return { ...task, group: String(group) };
  throw new LorimerError("config", `${place}: no field ${field}, by which recipe.yaml groups the tasks`, {
    hint: "Add the field to the line or to its input, or change tasks.group.",
  });
}

async function runTaskModule(
  { dir, recipe }: LoadedRecipe,
  source: { module: string; options: Record<string, unknown> },
  seed: number,
): Promise<z.infer<typeof moduleResultSchema>> {
  const file = join(dir, source.module);
  const context: TaskModuleContext = { seed, splits: recipe.splits, options: source.options, recipeDir: dir };
  let result: unknown;
  try {
    const module = (await import(pathToFileURL(file).href)) as { loadTasks?: unknown };
    if (typeof module.loadTasks !== "function") throw new Error("it exports no function loadTasks");
    result = await module.loadTasks(context);
  } catch (error) {
    throw new LorimerError("config", `${file}: ${messageOf(error)}`, { hint: hintOf(error), cause: error });
  }
  const parsed = moduleResultSchema.safeParse(result);
  if (!parsed.success) {
    throw new LorimerError(
      "config",
      `${file}: loadTasks returned something wrong: ${issuesOf(parsed.error)}`,
      {
        hint: "It returns { tasks: [{ id, input, expected, group? }], resources?: { name: text } }.",
      },
    );
  }
  const ids = new Set<string>();
  for (const { id } of parsed.data.tasks) {
    if (ids.has(id)) throw new LorimerError("config", `${file}: two tasks have the id ${id}`);
    ids.add(id);
  }
  return parsed.data;
}

/** What to do about a module's error: it may say so itself. */
function hintOf(error: unknown): string {
  if (error instanceof Error && "hint" in error && typeof error.hint === "string") return error.hint;
  const missing =
    systemCode(error) === "ERR_MODULE_NOT_FOUND" && /Cannot find package '([^']+)'/.exec(messageOf(error));
  return missing ? `npm install ${missing[1]}` : "The module is the recipe's own: see its README.";
}

function readFolder(folder: string): Record<string, string> {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => !name.startsWith("."));
  } catch (error) {
    throw new LorimerError("config", `${folder}: no such folder of resources`, { cause: error });
  }
  return Object.fromEntries(names.map((name) => [name, readResource(folder, name)]));
}

function readResource(folder: string, name: string): string {
  const file = join(folder, name);
  const parsed = resourceName.safeParse(name);
  const wrong = parsed.success ? !statSync(file).isFile() && "not a file" : issuesOf(parsed.error);
  if (wrong)
    throw new LorimerError("config", `${file}: ${wrong}`, { hint: "Resources lie flat in one folder." });
  return readText(file);
}

/** UTF-8 text without a byte order mark. */
function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const reason = systemCode(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    throw new LorimerError("config", `${file}: ${reason}`, { cause: error });
  }
}

function issuesOf(error: z.ZodError): string {
  const [first, ...others] = error.issues.map(
    ({ path, message }) => `${path.join(".") || "value"}: ${message}`,
  );
  return others.length > 0 ? `${first} (and ${others.length} more)` : `${first}`;
}
