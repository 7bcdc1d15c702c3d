import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LorimerError, systemCode } from "../lib/errors.ts";
import { hashOf } from "../lib/hash.ts";
import { oneLine } from "../trace/plain-text.ts";
import type { Finding } from "./check.ts";

/** A candidate's output directory as it was when its author stopped; everything later works on these bytes. */
export interface Frozen {
  /** Text by path relative to the directory, end-of-line kept. */
  files: Map<string, string>;
  hash: string;
}

const allowed = [
  /^config\.yaml$/,
  /^tools\/[a-z0-9-]+\.ts$/,
  /^processors\/[a-z0-9-]+\.ts$/,
  /^prompts\/[a-z0-9-]+\.(md|txt)$/,
  /^skills\/[a-z0-9-]+\/SKILL\.md$/,
  /^_meta_scratch\/(TASK\.md|TOOL_SPEC\.md|candidate\.yaml|needs\.yaml)$/,
];
/** Written by `validate` itself. */
const outsideTheFreeze = "findings";
const maxFiles = 64;
const maxBytes = 256 * 1024;
/** Folders below this have no place; they are named and not looked into. */
const maxDepth = 2;

/**
 * Reads and hashes an output directory; a link, a strange path, a size over the limits or foreign bytes are findings.
 * @throws LorimerError `missing` when there is no such folder
 */
export function freeze(dir: string): { frozen: Frozen; findings: Finding[] } {
  if (!lstatSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new LorimerError("missing", `${dir}: no such folder`, { hint: "Name a candidate's directory." });
  const paths = [...entries(dir)].sort();
  const files = new Map<string, string>();
  const findings: Finding[] = [];
  if (paths.length > maxFiles)
    findings.push({ kind: "freeze", message: `${paths.length} files, at most ${maxFiles} are allowed` });
  for (const path of paths.slice(0, maxFiles)) {
    const read = readEntry(dir, path);
    if (typeof read === "string") files.set(path, read);
    else findings.push({ kind: "freeze", message: read.problem, file: oneLine(path), hint: hintFor(path) });
  }
  if (!paths.includes("config.yaml"))
    findings.push({ kind: "freeze", message: "there is no config.yaml", file: "config.yaml" });
  return { frozen: { files, hash: hashOf([...files]) }, findings };
}

/** A copy of a generation is where most candidates by hand begin. */
function hintFor(path: string): string | undefined {
  if (!path.startsWith(".lorimer/") && !path.startsWith(".git/")) return undefined;
  return "A generation keeps its papers in .lorimer/; a candidate has its own in _meta_scratch/. Leave this out.";
}

/** The text of a file that may be where it is, or what is wrong with it. */
function readEntry(dir: string, path: string): string | { problem: string } {
  const status = lstatSync(join(dir, path));
  if (status.isSymbolicLink()) return { problem: "is a link; links are refused" };
  if (status.nlink > 1 && status.isFile()) return { problem: "is a hard link; links are refused" };
  if (!allowed.some((pattern) => pattern.test(path)))
    return { problem: "has no place in a candidate's directory" };
  if (!status.isFile()) return { problem: "is no plain file" };
  if (status.size > maxBytes) return { problem: `has ${status.size} bytes, at most ${maxBytes} are allowed` };
  try {
    const bytes = readFileSync(join(dir, path));
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? { problem: "is not text: it holds a null character" } : text;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined || code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return { problem: "is not UTF-8 text" };
    return { problem: `cannot be read (${code})` };
  }
}

/** Every entry that is not a real folder; links are listed, never followed. */
function* entries(dir: string, below: readonly string[] = []): Generator<string> {
  for (const entry of readdirSync(join(dir, ...below), { withFileTypes: true })) {
    const path = [...below, entry.name];
    if (!entry.isDirectory() || path.length > maxDepth) yield path.join("/");
    else if (path.join("/") !== outsideTheFreeze) yield* entries(dir, path);
  }
}
