import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { LorimerError, systemCode } from "../lib/errors.ts";
import { hashOf, sha256 } from "../lib/hash.ts";
import { didYouMean } from "./nearest.ts";
import { type Recipe, recipeSchema } from "./recipe-schema.ts";
import { entryError, readYaml, validateYaml, type YamlFile } from "./yaml.ts";

/** A recipe read from its folder. File names in `recipe` stay as written: `resolve(dir, name)`. */
export interface LoadedRecipe {
  /** The recipe's folder, absolute. */
  dir: string;
  /** recipe.yaml's path, as given. */
  file: string;
  recipe: Recipe;
  /** sha256 over the recipe with defaults and the bytes of every file and folder that it names. */
  hash: string;
}

const fileName = "recipe.yaml";

/**
 * Reads a recipe by its folder or its recipe.yaml, and checks that what it names exists.
 * @throws LorimerError `missing` with the recipes found near by; `config` with key, line and a hint.
 */
export function loadRecipe(path: string): LoadedRecipe {
  const file = findRecipe(path);
  const dir = resolve(dirname(file));
  const yaml = readYaml(file);
  const recipe = validateYaml(recipeSchema, yaml);
  if (recipe.evaluator.kind === "eval_gate" && recipe.spec === undefined) {
    throw entryError(yaml, ["evaluator"], "eval_gate needs `spec`", "Add `spec: {…}` with its eval_gate.");
  }
  if (recipe.evaluator.kind === "regex") checkPattern(yaml, recipe.evaluator);
  const named = namedPaths(recipe);
  for (const each of named) checkExists(yaml, dir, each);
  const contents = named.map(({ keys, path: name }) => [keys.join("."), contentHashes(resolve(dir, name))]);
  return { dir, file, recipe, hash: hashOf({ recipe, contents }) };
}

interface NamedPath {
  keys: string[];
  path: string;
  kind: "file" | "folder";
}

function namedPaths({ tasks, evaluator, baseline, resources, playbook }: Recipe): NamedPath[] {
  const named: NamedPath[] = [
    "file" in tasks
      ? { keys: ["tasks", "file"], path: tasks.file, kind: "file" }
      : { keys: ["tasks", "module"], path: tasks.module, kind: "file" },
    { keys: ["baseline"], path: baseline, kind: "folder" },
  ];
  if (resources !== undefined) named.push({ keys: ["resources"], path: resources, kind: "folder" });
  if (playbook !== undefined) named.push({ keys: ["playbook"], path: playbook, kind: "file" });
  if (evaluator.kind === "module") {
    named.push({ keys: ["evaluator", "module"], path: evaluator.module, kind: "file" });
  }
  return named;
}

function checkExists(yaml: YamlFile, dir: string, { keys, path, kind }: NamedPath): void {
  const found = kindOf(resolve(dir, path));
  if (found === kind) return;
  const what = found === undefined ? `no ${kind} \`${path}\`` : `\`${path}\` is no ${kind}`;
  throw entryError(yaml, keys, what, `Paths count from the folder of ${fileName}.`);
}

function checkPattern(yaml: YamlFile, { pattern, flags }: { pattern: string; flags: string }): void {
  try {
    new RegExp(pattern, flags);
  } catch {
    const what = `/${pattern}/${flags} is no regular expression`;
    throw entryError(yaml, ["evaluator", "pattern"], what, "Correct the pattern or its flags.");
  }
}

/** Hash of each file at or below `path`, sorted by its path from there. */
function contentHashes(path: string): [string, string][] {
  if (kindOf(path) === "file") return [["", fileHash(path)]];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => kindOf(file) === "file")
    .map((file): [string, string] => [relative(path, file), fileHash(file)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function fileHash(path: string): string {
  try {
    return sha256(readFileSync(path));
  } catch (error) {
    throw new LorimerError("config", `${path}: cannot be read (${systemCode(error) ?? "unknown reason"})`, {
      hint: "The recipe names it: make it readable.",
      cause: error,
    });
  }
}

/** What stands at `path`, links followed; undefined for nothing and for what is neither. */
function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return "folder";
    return stat.isFile() ? "file" : undefined;
  } catch {
    return undefined;
  }
}

function findRecipe(path: string): string {
  const kind = kindOf(path);
  const file = kind === "folder" ? join(path, fileName) : path;
  if (kindOf(file) === "file") return file;
  const near = recipesNear(kind === "folder" ? [path, dirname(path), "recipes"] : [dirname(path), "recipes"]);
  const names = near.map((each) => basename(each));
  const what = kind === "folder" ? `no ${fileName} in this folder` : "no such recipe";
  throw new LorimerError("missing", `${path}: ${what}${didYouMean(basename(path), names)}`, {
    hint:
      near.length > 0
        ? `Recipes near by: ${near.join(", ")}.`
        : `A recipe is a folder with a ${fileName}; name one, such as recipes/inbox-triage.`,
  });
}

/** The folders with a recipe.yaml in the first of `places` that has any. */
function recipesNear(places: readonly string[]): string[] {
  for (const place of places) {
    if (kindOf(place) !== "folder") continue;
    const found = readdirSync(place)
      .sort()
      .map((name) => join(place, name))
      .filter((each) => kindOf(join(each, fileName)) === "file");
    if (found.length > 0) return found.slice(0, 10);
  }
  return [];
}
