import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "../lib/hash.ts";
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

/** Reads and hashes an output directory; a link, a strange path, a size over the limits or foreign bytes are findings. */
export function freeze(dir: string): { frozen: Frozen; findings: Finding[] } {
  const findings: Finding[] = [];
  const files = new Map<string, string>();
  for (const path of listEntries(dir)) {
    const problem = problemWith(dir, path);
    if (problem !== undefined) {
      findings.push({ kind: "freeze", message: problem, file: path });
      continue;
    }
    files.set(path, readFileSync(join(dir, path), "utf8"));
  }
  if (files.size > maxFiles)
    findings.push({ kind: "freeze", message: `${files.size} files, at most ${maxFiles} are allowed` });
  if (!files.has("config.yaml"))
    findings.push({ kind: "freeze", message: "there is no config.yaml", file: "config.yaml" });
  return { frozen: { files, hash: hashOf([...files]) }, findings };
}

function problemWith(dir: string, path: string): string | undefined {
  const status = lstatSync(join(dir, path));
  if (status.isSymbolicLink()) return "is a link; links are refused";
  if (!status.isFile()) return "is neither a file nor a folder";
  if (!allowed.some((pattern) => pattern.test(path))) return "has no place in a candidate's directory";
  if (status.size > maxBytes) return `has ${status.size} bytes, at most ${maxBytes} are allowed`;
  if (!isUtf8(readFileSync(join(dir, path)))) return "is not UTF-8 text";
  return undefined;
}

function isUtf8(bytes: Buffer): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0");
  } catch {
    return false;
  }
}

/** Every entry that is not a real folder, in sorted order; links are listed, never followed. */
function listEntries(dir: string, below = ""): string[] {
  return readdirSync(join(dir, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (path === outsideTheFreeze && entry.isDirectory()) return [];
      return entry.isDirectory() ? listEntries(dir, path) : [path];
    });
}
