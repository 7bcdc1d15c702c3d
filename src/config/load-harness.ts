import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { LorimerError } from "../lib/errors.ts";
import { sha256 } from "../lib/hash.ts";
import { behaviourHashOf, canonicalConfig, generationHashOf } from "./canonical.ts";
import { isReference, type Reference, resolveReference } from "./generation-files.ts";
import type { AuthoredPart, LoadedHarness, Skill } from "./harness.ts";
import { checkNames, type NameLimits } from "./harness-names.ts";
import { type HarnessConfig, harnessConfigSchema } from "./harness-schema.ts";
import type { Recipe } from "./recipe-schema.ts";
import { parseSkill } from "./skill.ts";
import { transformPart } from "./transform.ts";
import { entryError, readYaml, validateYaml, type YamlFile } from "./yaml.ts";

export interface LoadOptions extends NameLimits {
  /** The recipe's ceilings; a config.yaml may not go above them. */
  ceilings?: Recipe["ceilings"];
}

/**
 * Reads `dir`/config.yaml and every file that it names. Nothing of it runs.
 * @throws LorimerError `missing` without the folder or config.yaml; `config` with the entry, its line and a hint.
 */
export function loadHarness(dir: string, options: LoadOptions = {}): LoadedHarness {
  const file = withToolsAlias(readConfig(dir));
  const written = validateYaml(harnessConfigSchema, file);
  const references: Reference[] = [];
  const resolveAt = (keys: PropertyKey[], reference: string, wants: "export" | "file"): Reference => {
    const resolved = resolveReference(dir, reference, { config: file, keys, wants });
    references.push(resolved);
    return resolved;
  };

  const promptFile = isReference(written.prompt) ? resolveAt(["prompt"], written.prompt, "file") : undefined;
  const skillFiles = written.skills.map((skill, index) => resolveAt(["skills", index], skill, "file"));
  const processors = written.processors.map(({ _target_: target, ...given }, index) => {
    const keys = ["processors", index, "_target_"];
    if (target.startsWith("lorimer/")) {
      const hint = "Name a class in a file: `file://$GENERATION/processors/x.ts::ClassName`.";
      throw entryError(file, keys, `built-in processors such as \`${target}\` are not in this version`, hint);
    }
    return { reference: resolveAt(keys, target, "export"), given };
  });
  const tools = written.tools.custom.map((tool, index) =>
    resolveAt(["tools", "custom", index], tool, "export"),
  );
  const config: HarnessConfig = {
    ...written,
    prompt: promptFile?.canonical ?? written.prompt,
    skills: skillFiles.map(({ canonical }) => canonical),
    processors: processors.map(({ reference, given }) => ({ ...given, _target_: reference.canonical })),
    tools: { ...written.tools, custom: tools.map(({ canonical }) => canonical) },
  };

  const skills = skillFiles.map((skill) => parseSkill(skill.text, join(dir, skill.file)));
  refuseTwins(file, skills);
  checkNames(file, config, { ...options, customNames: tools.map(({ exportName }) => exportName), skills });
  checkCeilings(file, config, options.ceilings);
  const parts = [
    ...processors.map(({ reference, given }) => authoredPart(dir, "processor", reference, given)),
    ...tools.map((reference) => authoredPart(dir, "tool", reference, {})),
  ];
  const prompt = promptFile?.text ?? written.prompt;
  const files = new Map(references.map(({ file: path, text }) => [path, text]));
  const canonical = canonicalConfig(config);
  return {
    dir: realpathSync(dir),
    config,
    prompt,
    skills,
    parts,
    files,
    canonical,
    generationHash: generationHashOf(canonical, files),
    behaviourHash: behaviourHashOf({ config, prompt, skills, parts }),
  };
}

function readConfig(dir: string): YamlFile {
  const path = join(dir, "config.yaml");
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new LorimerError("config", `${path}: a symlink`, { hint: "Put a plain file there." });
  }
  return readYaml(path);
}

/** `tool_registry` is another name of `tools`. */
function withToolsAlias(file: YamlFile): YamlFile {
  const { tool_registry: registry, ...rest } = file.value as Record<string, unknown>;
  if (registry === undefined) return file;
  if ("tools" in rest) {
    const what = `is the same as \`tools\`, at ${file.locate(["tools"])}`;
    throw entryError(file, ["tool_registry"], what, "Keep one of the two.");
  }
  return {
    path: file.path,
    value: { ...rest, tools: registry },
    locate: ([first, ...others]) =>
      file.locate(first === undefined ? [] : [first === "tools" ? "tool_registry" : first, ...others]),
  };
}

function authoredPart(
  dir: string,
  kind: AuthoredPart["kind"],
  { file, exportName, text }: Reference,
  options: Record<string, unknown>,
): AuthoredPart {
  const code = transformPart(text, { file: join(dir, file) });
  return { kind, file, exportName, code, codeHash: sha256(code), sourceHash: sha256(text), options };
}

function refuseTwins(file: YamlFile, skills: readonly Skill[]): void {
  for (const [index, { name }] of skills.entries()) {
    const first = skills.findIndex((skill) => skill.name === name);
    if (first === index) continue;
    const what = `a second skill named \`${name}\`, the first is at ${file.locate(["skills", first])}`;
    throw entryError(file, ["skills", index], what, "Rename or remove one of the two.");
  }
}

function checkCeilings(
  file: YamlFile,
  { limits }: HarnessConfig,
  ceilings: Recipe["ceilings"] | undefined,
): void {
  if (ceilings === undefined) return;
  for (const key of ["max_steps", "max_tokens", "max_cost_usd", "max_seconds"] as const) {
    if (limits[key] <= ceilings[key]) continue;
    const what = `${limits[key]} is above the recipe's ceiling of ${ceilings[key]}`;
    throw entryError(file, ["limits", key], what, "Lower it, or raise `ceilings` in recipe.yaml.");
  }
}
