import { isMap, isNode, isScalar, isSeq, LineCounter } from "yaml";
import type { z } from "zod";
import { LorimerError } from "../lib/errors.ts";
import { decodeUtf8, normaliseEol, readSmallFile } from "./text.ts";
import { composeDocument, type Place, toData } from "./yaml-document.ts";
import { describeIssues } from "./yaml-issues.ts";

/** A parsed YAML file that still knows where each of its keys stands. */
export interface YamlFile {
  path: string;
  /** Plain data; its root is what was asked for, a map or a list. */
  value: unknown;
  /** `path:line:column` of the deepest key or item on `keys` that the file has. */
  locate(keys: readonly PropertyKey[]): string;
}

interface ParseOptions {
  /** Named in messages. */
  path: string;
  /** What the file must hold. Default: map. */
  root?: "map" | "list";
}

const maxReported = 5;

/** @throws LorimerError `missing` without the file, `config` as parseYamlText does. */
export function readYaml(path: string, options: Omit<ParseOptions, "path"> = {}): YamlFile {
  return parseYamlText(readSmallFile(path), { ...options, path });
}

/**
 * One YAML 1.2 core document as plain data. Refuses what would be read differently elsewhere or could do harm:
 * duplicate keys, other tags, several documents, keys that are no text, deep nesting, alias bombs.
 * @throws LorimerError `config`: `path:line:column: what`.
 */
export function parseYamlText(source: string | Uint8Array, { path, root = "map" }: ParseOptions): YamlFile {
  const text =
    typeof source === "string" ? normaliseEol(source).replace(/^\uFEFF/, "") : decodeUtf8(source, path);
  const lines = new LineCounter();
  const at: Place = (offset) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const document = composeDocument(text, lines, at);
  const { contents } = document;
  const start = isNode(contents) ? (contents.range?.[0] ?? 0) : 0;
  if (root === "map" ? !isMap(contents) : !isSeq(contents)) {
    const hint = root === "map" ? "Write `key: value` lines." : "Write `- item` lines.";
    throw new LorimerError("config", `${at(start)}: the file must hold a ${root}`, { hint });
  }
  const value = toData(document, at);
  return { path, value, locate: (keys) => at(offsetOf(contents, keys) ?? start) };
}

/**
 * The file's value as the schema gives it. A key with the value null is the same as an absent key, everywhere.
 * @throws LorimerError `config` that lists the first few problems, each `path:line:column: at key: what`.
 */
export function validateYaml<T>(schema: z.ZodType<T>, file: YamlFile): T {
  const value = withoutNulls(file.value);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = describeIssues(schema, value, result.error.issues);
  const lines = issues.slice(0, maxReported).map(({ keys, what }) => entryMessage(file, keys, what));
  if (issues.length > maxReported) lines.push(`… and ${issues.length - maxReported} more`);
  throw new LorimerError("config", lines.join("\n"), {
    hint: "`lorimer schema NAME` prints the keys of config, recipe, candidate and needs.",
  });
}

/** An error about the entry at `keys`: `path:line:column: at key: what`. */
export function entryError(
  file: YamlFile,
  keys: readonly PropertyKey[],
  what: string,
  hint: string,
): LorimerError {
  return new LorimerError("config", entryMessage(file, keys, what), { hint });
}

function entryMessage(file: YamlFile, keys: readonly PropertyKey[], what: string): string {
  return `${file.locate(keys)}: ${keys.length === 0 ? "" : `at ${dotted(keys)}: `}${what}`;
}

/** `processors[0]._target_` */
function dotted(keys: readonly PropertyKey[]): string {
  return keys
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
    .join("");
}

/** Where the deepest of `keys` that exists begins: a map's key, a list's item. */
function offsetOf(root: unknown, keys: readonly PropertyKey[]): number | undefined {
  let node = root;
  let offset: number | undefined;
  for (const key of keys) {
    if (isMap(node)) {
      const pair = node.items.find((each) => isScalar(each.key) && String(each.key.value) === String(key));
      if (pair === undefined) return offset;
      offset = isNode(pair.key) ? pair.key.range?.[0] : offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === "number") {
      node = node.items[key];
      if (!isNode(node)) return offset;
      offset = node.range?.[0];
    } else return offset;
  }
  return offset;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  );
}
