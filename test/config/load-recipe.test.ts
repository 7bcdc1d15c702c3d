import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import { errorOf, folderOf } from "./folder.ts";

const recipe = `name: mini
tasks: { file: tasks.jsonl }
splits: { evolve: 2, gate: 2 }
evaluator: { kind: exact }
models: { agent: { kind: sim } }
resources: resources
`;
const files = {
  "mini/recipe.yaml": recipe,
  "mini/tasks.jsonl": '{"id":"a","input":"x","expected":"y"}\n',
  "mini/baseline/config.yaml": "prompt: x\n",
  "mini/resources/b/c.txt": "c",
  "mini/resources/a.txt": "a",
  "other-one/recipe.yaml": recipe,
};

const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});
function recipes(changes: Record<string, string> = {}): string {
  const folder = folderOf({ ...files, ...changes });
  folders.push(folder);
  return folder.dir;
}
const refusal = (text: string, changes: Record<string, string> = {}) => {
  const error = errorOf(() => loadRecipe(join(recipes({ "mini/recipe.yaml": text, ...changes }), "mini")));
  expect(error).toMatchObject({ code: "config", exitCode: 2, hint: expect.any(String) });
  return error.message.replace(/^[^:]*\/recipe\.yaml/, "recipe.yaml");
};

describe("loadRecipe", () => {
  it("reads a recipe by its folder or its file, names as written", () => {
    const dir = join(recipes(), "mini");
    const loaded = loadRecipe(dir);
    expect(loaded).toMatchObject({ dir, file: join(dir, "recipe.yaml") });
    expect(loaded.recipe).toMatchObject({
      tasks: { file: "tasks.jsonl" },
      baseline: "baseline",
      policy: "fail-task",
    });
    expect(loadRecipe(join(dir, "recipe.yaml"))).toEqual(loaded);
  });

  it("lists the recipes near by when one is missing", () => {
    const dir = recipes();
    const hint = `Recipes near by: ${join(dir, "mini")}, ${join(dir, "other-one")}.`;
    const typo = errorOf(() => loadRecipe(join(dir, "minj")));
    expect(typo).toMatchObject({ code: "missing", exitCode: 2, hint });
    expect(typo.message).toContain("no such recipe, did you mean `mini`?");
    expect(errorOf(() => loadRecipe(dir))).toMatchObject({ code: "missing", hint });
    expect(errorOf(() => loadRecipe(join(dir, "mini/baseline"))).message).toContain(
      "no recipe.yaml in this folder",
    );
    const empty = recipes();
    for (const name of ["mini", "other-one"]) rmSync(join(empty, name), { recursive: true });
    mkdirSync(join(empty, "sub"));
    expect(errorOf(() => loadRecipe(join(empty, "sub/x"))).hint).toBeTruthy();
  });

  it.each([
    [recipe.replace("tasks.jsonl", "tusks.jsonl"), "recipe.yaml:2:10: at tasks.file: no file `tusks.jsonl`"],
    [recipe.replace("tasks.jsonl", "resources"), "recipe.yaml:2:10: at tasks.file: `resources` is no file"],
    [recipe.replace("file: tasks.jsonl", "module: load.mjs"), "recipe.yaml:2:10: at tasks.module: no file"],
    [`${recipe}playbook: book.md\n`, "recipe.yaml:7:1: at playbook: no file `book.md`"],
    [`${recipe}baseline: base\n`, "recipe.yaml:7:1: at baseline: no folder `base`"],
    [
      recipe.replace("resources: resources", "resources: tasks.jsonl"),
      "recipe.yaml:6:1: at resources: `tasks.jsonl` is no folder",
    ],
    [
      recipe.replace("kind: exact", "kind: module, module: e.mjs"),
      "recipe.yaml:4:28: at evaluator.module: no file `e.mjs`",
    ],
    [
      recipe.replace("kind: exact", "kind: eval_gate"),
      "recipe.yaml:4:1: at evaluator: eval_gate needs `spec`",
    ],
    [
      recipe.replace("kind: exact", "kind: regex, pattern: '('"),
      "recipe.yaml:4:27: at evaluator.pattern: /(/ is no regular expression",
    ],
    [recipe.replace("kind: exact", "kind: judge"), "recipe.yaml:4:14: at evaluator.kind: `judge` is none of"],
    [recipe.replace("{ kind: exact }", "exact"), "recipe.yaml:4:1: at evaluator: expected a map, found text"],
    [
      recipe.replace("{ file: tasks.jsonl }", "tasks.jsonl"),
      "recipe.yaml:2:1: at tasks: expected a map, found text",
    ],
    [recipe.replace("name: mini", "name: Mini One"), "recipe.yaml:1:1: at name: lower-case letters"],
    [recipe.replace("gate: 2", "gate: 0"), "recipe.yaml:3:22: at splits.gate: "],
    [
      recipe.replace("resources: ", "resuorces: "),
      "recipe.yaml:6:1: at resuorces: unknown key, did you mean `resources`?",
    ],
  ])("names key and line of what is wrong: %#", (text, message) => {
    expect(refusal(text)).toContain(message);
  });

  it("has a hash over the recipe's meaning and all that it names", () => {
    const hashOf = (changes: Record<string, string> = {}) => loadRecipe(join(recipes(changes), "mini")).hash;
    const hash = hashOf();
    expect(hashOf({ "mini/recipe.yaml": `# note\n${recipe}policy: fail-task\n` })).toBe(hash);
    expect(hashOf({ "mini/README.md": "not named" })).toBe(hash);
    const others = [
      hashOf({ "mini/recipe.yaml": recipe.replace("evolve: 2", "evolve: 3") }),
      hashOf({ "mini/tasks.jsonl": "" }),
      hashOf({ "mini/baseline/config.yaml": "prompt: y\n" }),
      hashOf({ "mini/resources/a.txt": "b" }),
      hashOf({ "mini/resources/b/d.txt": "" }),
    ];
    expect(new Set([hash, ...others]).size).toBe(6);
    const dir = recipes();
    writeFileSync(join(dir, "mini/resources/z.txt"), "");
    expect(loadRecipe(join(dir, "mini")).hash).not.toBe(hash);
  });
});
