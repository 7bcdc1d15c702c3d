import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { treeHash } from "./tree-hash.ts";

/** Writes `files()` as read-only files to `dir`, whose name is their tree hash, unless they stand there unharmed. */
export async function writeExport(
  dir: string,
  files: () => Promise<ReadonlyMap<string, string>>,
): Promise<string> {
  if (isIntact(dir)) return dir;
  const temporary = join(dirname(dir), `.${basename(dir)}.${randomBytes(6).toString("hex")}.tmp`);
  const wanted = await files();
  try {
    mkdirSync(temporary, { recursive: true });
    for (const [path, content] of wanted) {
      const file = join(temporary, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content, { mode: 0o444 });
    }
    // Another process may have written the same meanwhile.
    if (!isIntact(dir)) {
      rmSync(dir, { recursive: true, force: true });
      renameSync(temporary, dir);
    }
    return dir;
  } catch (error) {
    throw new LorimerError("infra", `cannot write ${dir}: ${messageOf(error)}`, { cause: error });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function isIntact(dir: string): boolean {
  try {
    return treeHash(readFolder(dir)) === basename(dir);
  } catch {
    return false;
  }
}

function readFolder(dir: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) throw new Error("not a plain file");
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(dir.length + 1), readFileSync(file, "utf8"));
  }
  return files;
}
