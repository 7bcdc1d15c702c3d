import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadTasks } from "../../src/bench/tasks.ts";
import type { LoadedRecipe } from "../../src/config/load-recipe.ts";
import { recipeSchema } from "../../src/config/recipe-schema.ts";
import { LorimerError } from "../../src/lib/errors.ts";

function recipeWith(
  fields: Record<string, unknown>,
  files: Record<string, string | Uint8Array>,
): LoadedRecipe {
  const dir = mkdtempSync(join(tmpdir(), "lorimer-tasks-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  const recipe = recipeSchema.parse({
    name: "tiny",
    splits: { evolve: 1, gate: 1 },
    evaluator: { kind: "exact" },
    models: { agent: { kind: "sim" } },
    ...fields,
  });
  return { dir, file: join(dir, "recipe.yaml"), recipe, hash: "0" };
}

async function failureOf(recipe: LoadedRecipe): Promise<LorimerError> {
  const failure = await loadTasks(recipe, { seed: 1 }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LorimerError);
  return failure as LorimerError;
}

const fromFile = (text: string | Uint8Array, tasks: Record<string, string> = {}) =>
  recipeWith({ tasks: { file: "tasks.jsonl", ...tasks } }, { "tasks.jsonl": text });
const fromModule = (code: string, fields: Record<string, unknown> = {}, files: Record<string, string> = {}) =>
  recipeWith({ tasks: { module: "tasks.mjs" }, ...fields }, { "tasks.mjs": code, ...files });

test("a file may have a byte order mark, CRLF, blank lines and no last newline", async () => {
  const { tasks, resources } = await loadTasks(
    fromFile(
      '\ufeff{"id":"1","input":"x","expected":"a"}\r\n\r\n{"id":"2","input":{"q":"y"},"expected":"b","group":"g"}',
    ),
    { seed: 1 },
  );
  expect(tasks).toEqual([
    { id: "1", input: "x", expected: "a" },
    { id: "2", input: { q: "y" }, expected: "b", group: "g" },
  ]);
  expect(resources.size).toBe(0);
});

test("groups come from a field of the line or of its input", async () => {
  const lines =
    '{"id":"1","input":"x","expected":"a","customer":7}\n{"id":"2","input":{"customer":"c"},"expected":"b"}\n';
  const { tasks } = await loadTasks(fromFile(lines, { group: "customer" }), { seed: 1 });
  expect(tasks.map(({ group }) => group)).toEqual(["7", "c"]);
  expect((await failureOf(fromFile(lines, { group: "other" }))).message).toMatch(
    /tasks\.jsonl:1: no field other/,
  );
});

test.each([
  ["not JSON", '{"id":"1","input":"x","expected":"a"}\n{oops}\n', /tasks\.jsonl:2: not JSON/],
  ["a wrong field", '\n{"id":"1","input":3,"expected":"a"}\n', /tasks\.jsonl:2: input: /],
  [
    "an id twice",
    '{"id":"1","input":"x","expected":"a"}\n{"id":"1","input":"y","expected":"a"}',
    /tasks\.jsonl:2: the id 1/,
  ],
  ["no tasks", "\n", /there are no tasks/],
  ["bytes that are not UTF-8", Uint8Array.of(0x7b, 0xff, 0xfe), /tasks\.jsonl: /],
])("%s in a task file is an error with its place", async (_name, text, message) => {
  const failure = await failureOf(fromFile(text));
  expect(failure.message).toMatch(message);
  expect(failure.exitCode).toBe(2);
});

test("a missing task file is an error of the recipe", async () => {
  const failure = await failureOf(recipeWith({ tasks: { file: "none.jsonl" } }, {}));
  expect(failure.message).toMatch(/none\.jsonl: there is no such file/);
});

test("a module gets seed, splits and options, and gives tasks and resources", async () => {
  const code = `export async function loadTasks({ seed, splits, options, recipeDir }) {
    const input = JSON.stringify({ seed, splits, options, known: recipeDir.length > 0 });
    return { tasks: [{ id: "1", input, expected: "a" }], resources: { "b.jsonl": "{}\\n" } };
  }`;
  const recipe = fromModule(
    code,
    { resources: "data", tasks: { module: "tasks.mjs", options: { size: 3 } } },
    { "data/c.txt": "c", "data/a.txt": "a", "data/.hidden": "" },
  );
  const { tasks, resources } = await loadTasks(recipe, { seed: 9 });
  expect(JSON.parse(String(tasks[0]?.input))).toEqual({
    seed: 9,
    splits: { evolve: 1, gate: 1, test: 0 },
    options: { size: 3 },
    known: true,
  });
  expect([...resources]).toEqual([
    ["a.txt", "a"],
    ["b.jsonl", "{}\n"],
    ["c.txt", "c"],
  ]);
});

test.each([
  [
    "throws with a hint",
    'export function loadTasks() { throw Object.assign(new Error("no data"), { hint: "npm install data" }); }',
    /tasks\.mjs: no data/,
    "npm install data",
  ],
  ["exports nothing", "export const tasks = [];", /exports no function loadTasks/, undefined],
  [
    "returns no tasks",
    "export const loadTasks = () => ({ tasks: [] });",
    /returned something wrong: tasks/,
    undefined,
  ],
  [
    "names a resource with a path",
    'export const loadTasks = () => ({ tasks: [{ id: "1", input: "x", expected: "a" }], resources: { "../a": "" } });',
    /returned something wrong: resources/,
    undefined,
  ],
  [
    "repeats an id",
    'const task = { id: "1", input: "x", expected: "a" }; export const loadTasks = () => ({ tasks: [task, task] });',
    /two tasks have the id 1/,
    undefined,
  ],
])("a module that %s is a config error", async (_name, code, message, hint) => {
  const failure = await failureOf(fromModule(code));
  expect(failure.message).toMatch(message);
  expect(failure.exitCode).toBe(2);
  if (hint) expect(failure.hint).toBe(hint);
});

test("resources must be flat files, and may not come from two places", async () => {
  const code =
    'export const loadTasks = () => ({ tasks: [{ id: "1", input: "x", expected: "a" }], resources: { "a.txt": "" } });';
  const clash = await failureOf(fromModule(code, { resources: "data" }, { "data/a.txt": "a" }));
  expect(clash.message).toMatch(/resource a\.txt is in the folder and comes from the module/);
  const nested = await failureOf(fromModule(code, { resources: "data" }, { "data/sub/b.txt": "b" }));
  expect(nested.message).toMatch(/data\/sub: not a file/);
  expect((await failureOf(fromModule(code, { resources: "absent" }))).message).toMatch(
    /absent: no such folder/,
  );
});
