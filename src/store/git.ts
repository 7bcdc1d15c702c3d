import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { simpleGit } from "simple-git";
import { LorimerError, messageOf } from "../lib/errors.ts";

// The person's own git settings and environment must not reach this repository: hooks, signing, attributes, line ends.
// simple-git drops every GIT_ variable of the environment itself.
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.autocrlf=false",
  "core.eol=lf",
  "core.safecrlf=false",
  "core.fileMode=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "core.fsync=all",
  "core.fsyncMethod=batch",
  "safe.directory=*",
  "i18n.logOutputEncoding=UTF-8",
  "log.showSignature=false",
  "user.name=lorimer",
  "user.email=lorimer@localhost",
  "gc.auto=0",
  "init.defaultRefFormat=files",
];

const allowed = {
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeTemplateDir: true,
  // For `--git-dir`, which is always the fixed `.git` below.
  allowUnsafeConfigPaths: true,
};

/** Creates a repository in the existing folder `dir`. */
export async function initRepository(dir: string): Promise<void> {
  await execute(dir, ["init", "--template=", "--initial-branch=main", "--object-format=sha1"]);
}

/**
 * Runs git on the repository in `dir`, and on no other: without `--git-dir` a damaged one would be looked for further up.
 * simple-git waits 50 ms after a command that prints nothing, so the commands here print something.
 * @throws LorimerError `infra`
 */
export function git(dir: string, args: readonly string[], input?: string): Promise<string> {
  return execute(dir, ["--git-dir=.git", "--work-tree=.", ...args], input);
}

async function execute(dir: string, args: readonly string[], input?: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const client = simpleGit({
        baseDir: dir,
        config: settings,
        unsafe: allowed,
        ...(input === undefined ? {} : { input: () => input }),
      });
      return await client.raw([...args]);
    } catch (error) {
      // A person's editor may be looking at the repository at this moment.
      const busy = /\.lock\b/.test(messageOf(error));
      if (!busy || attempt === 20) throw gitError(dir, args, error);
      await setTimeout(50);
    }
  }
}

function gitError(dir: string, args: readonly string[], error: unknown): LorimerError {
  const message = messageOf(error);
  if (/spawn git (ENOENT|EACCES)/.test(message)) {
    return new LorimerError("infra", "git is not installed", {
      hint: "Install it: `apt-get update && apt-get install -y git`.",
      cause: error,
    });
  }
  const command = args.find((arg) => !arg.startsWith("-")) ?? "";
  return new LorimerError("infra", `git ${command} failed in ${dir}: ${message.trim()}`, {
    hint: "Nothing outside of this folder was touched; put it right, then go on with --resume.",
    cause: error,
  });
}

/**
 * Removes the lock files that a killed git left. Only for the holder of the run's lock.
 * @param interrupted a kill in the middle of a commit is known of, whether there are lock files or not
 */
export async function clearStaleLocks(dir: string, interrupted: boolean): Promise<void> {
  const locks = lockFiles(join(dir, ".git"));
  if (locks.length === 0 && !interrupted) return;
  // The git of a killed run lives on for a moment and still writes.
  for (let wait = 0; wait < 500 && gitWorksIn(dir); wait++) await setTimeout(10);
  for (const file of locks) rmSync(file, { force: true });
}

function lockFiles(gitDir: string): string[] {
  const top = readdirSync(gitDir).map((name) => join(gitDir, name));
  const refs = readdirSync(join(gitDir, "refs"), { recursive: true }).map((name) =>
    join(gitDir, "refs", String(name)),
  );
  return [...top, ...refs].filter((file) => file.endsWith(".lock"));
}

function gitWorksIn(dir: string): boolean {
  const real = realpathSync(dir);
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return (
        readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git") &&
        readlinkSync(`/proc/${pid}/cwd`) === real
      );
    } catch {
      return false;
    }
  });
}
