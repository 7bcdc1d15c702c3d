import type { Skill } from "./harness.ts";
import { absentToolNames, builtinToolNames, type HarnessConfig } from "./harness-schema.ts";
import { didYouMean } from "./nearest.ts";
import { entryError, type YamlFile } from "./yaml.ts";

export interface NameLimits {
  /** The recipe's allowlist; one with `*` allows everything. */
  allowlist?: readonly string[];
}

interface Names extends NameLimits {
  /** Of the authored tools, in list order. */
  customNames: readonly string[];
  skills: readonly Skill[];
}

/** @throws LorimerError `config` for a name of a tool that is unknown, given twice or more than the recipe allows. */
export function checkNames(file: YamlFile, { tools, limits }: HarnessConfig, names: Names): void {
  for (const [index, name] of tools.builtin.entries()) checkBuiltin(file, ["tools", "builtin", index], name);
  const skillTool = names.skills.length > 0 ? ["invoke_skill"] : [];
  refuseTwins(file, [
    ...skillTool.map((name) => ({ name, keys: ["skills"] })),
    ...tools.builtin.map((name, index) => ({ name, keys: ["tools", "builtin", index] })),
    ...names.customNames.map((name, index) => ({ name, keys: ["tools", "custom", index] })),
  ]);
  const known = [...tools.builtin, ...names.customNames, ...skillTool];
  const lists = [
    { list: tools.allowlist ?? [], keys: ["tools", "allowlist"] },
    { list: limits.exclusive, keys: ["limits", "exclusive"] },
  ];
  for (const { list, keys } of lists) {
    for (const [index, name] of list.entries()) {
      if (known.includes(name)) continue;
      const what = `\`${name}\` is no tool of this config${didYouMean(name, known)}`;
      throw entryError(file, [...keys, index], what, `Its tools: ${known.join(", ") || "none"}.`);
    }
  }
  checkAllowlist(file, tools.allowlist ?? [], names.allowlist);
}

function checkBuiltin(file: YamlFile, keys: readonly PropertyKey[], name: string): void {
  const builtin: readonly string[] = builtinToolNames;
  if (builtin.includes(name)) return;
  const hint = `Built-in tools: ${builtin.join(", ")}; write others as files under tools.custom.`;
  if (name === "WebSearch") {
    throw entryError(file, keys, "WebSearch needs a search provider, and this version has none", hint);
  }
  const absent: readonly string[] = absentToolNames;
  if (absent.includes(name)) throw entryError(file, keys, `${name} is not in this version`, hint);
  throw entryError(
    file,
    keys,
    `no built-in tool \`${name}\`${didYouMean(name, [...builtin, ...absent])}`,
    hint,
  );
}

function refuseTwins(file: YamlFile, named: readonly { name: string; keys: readonly PropertyKey[] }[]): void {
  const places = new Map<string, readonly PropertyKey[]>();
  for (const { name, keys } of named) {
    const first = places.get(name);
    if (first !== undefined) {
      const what = `a second tool named \`${name}\`, the first is at ${file.locate(first)}`;
      throw entryError(file, keys, what, "Rename or remove one of the two.");
    }
    places.set(name, keys);
  }
}

function checkAllowlist(
  file: YamlFile,
  allowlist: readonly string[],
  recipe: readonly string[] | undefined,
): void {
  if (recipe === undefined || recipe.includes("*")) return;
  const index = allowlist.findIndex((name) => !recipe.includes(name));
  if (index === -1) return;
  const what = `\`${allowlist[index]}\` is not on the recipe's allowlist (${recipe.join(", ") || "empty"})`;
  throw entryError(
    file,
    ["tools", "allowlist", index],
    what,
    "A config can only narrow it: remove the name.",
  );
}
