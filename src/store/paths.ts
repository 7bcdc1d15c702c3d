import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";

/** Where runs lie: `override`, else beside the nearest ancestor package.json or .git of `cwd`, else in `cwd`. */
export function findRunsDir(where: { cwd: string; override?: string | undefined }): string {
  const cwd = resolve(where.cwd);
  if (where.override !== undefined) return resolve(cwd, where.override);
  return join(projectOf(cwd) ?? cwd, "runs");
}

function projectOf(cwd: string): string | undefined {
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (existsSync(join(dir, "package.json")) || existsSync(join(dir, ".git"))) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

/** `_meta_scratch/`, beside `runs/`: templates and the inbox of all runs. */
export function scratchDirOf(runsDir: string): string {
  return join(dirname(runsDir), "_meta_scratch");
}

/**
 * Creates the runs folder where there is none, hidden from the git repository that it may lie in.
 * @throws LorimerError `infra` when it cannot be written
 */
export function ensureRunsDir(runsDir: string): void {
  try {
    if (makeFolder(runsDir)) writeFileSync(join(runsDir, ".gitignore"), "*\n");
  } catch (error) {
    throw new LorimerError("infra", `cannot create ${runsDir}: ${messageOf(error)}`, {
      hint: "Name a folder that you may write to with --runs DIR.",
      cause: error,
    });
  }
}

/** Makes a folder and its parents, one by one: Node's recursive way never returns below folders such as /proc. */
function makeFolder(path: string): boolean {
  if (existsSync(path)) return false;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false; // another process was quicker
    throw error;
  }
}
