import { Document, visit } from "yaml";
import { hashOf } from "../lib/hash.ts";
import type { AuthoredPart, LoadedHarness } from "./harness.ts";
import type { HarnessConfig } from "./harness-schema.ts";

/**
 * config.yaml as it is committed: keys sorted, defaults explicit, lists in their order but for sets of names.
 * Reading it back and writing it again gives the same bytes.
 */
export function canonicalConfig(config: HarnessConfig): string {
  return canonicalYaml(withSortedSets(config));
}

/** Any plain data as YAML with sorted keys, no aliases and no folded lines. */
export function canonicalYaml(value: unknown): string {
  const document = new Document(sorted(value), {
    version: "1.2",
    schema: "core",
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value !== "string" || !/[^\x20-\x7e]/.test(scalar.value)) return;
      scalar.type = isPlainBlock(scalar.value) ? "BLOCK_LITERAL" : "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Text that a `|` block gives back as it is: odd characters and white space at line ends get lost in some. */
function isPlainBlock(text: string): boolean {
  return /^\S.*\n/.test(text) && !/[^\S\n](\n|$)|[^\P{C}\n]|\p{Zl}|\p{Zp}/u.test(text);
}

/** Identifies a generation's files: canonical config and every authored file by its path. */
export function generationHashOf(canonical: string, files: ReadonlyMap<string, string>): string {
  return hashOf({ canonical, files: Object.fromEntries(files) });
}

/**
 * Identifies what a harness does. File names, comments, white space of code, and whether a prompt stands in
 * config.yaml or in a file make no difference.
 */
export function behaviourHashOf(
  harness: Pick<LoadedHarness, "config" | "prompt" | "skills" | "parts">,
): string {
  const { tools, limits } = withSortedSets(harness.config);
  return hashOf({
    // The agent trims the prompt's end too.
    prompt: harness.prompt.trimEnd(),
    skills: harness.skills,
    parts: harness.parts.map(({ kind, exportName, codeHash, options }: AuthoredPart) => ({
      kind,
      exportName,
      codeHash,
      options,
    })),
    builtin: tools.builtin,
    allowlist: tools.allowlist,
    limits,
  });
}

/** The order of names in these two says nothing, so it must not tell two configs apart. */
function withSortedSets(config: HarnessConfig): HarnessConfig {
  const { tools, limits } = config;
  return {
    ...config,
    tools: { ...tools, allowlist: tools.allowlist && nameSet(tools.allowlist) },
    limits: { ...limits, exclusive: nameSet(limits.exclusive) },
  };
}

function nameSet(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  // Negative zero is written as 0, as in JSON.
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
