import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { packageRoot } from "../../../src/lib/package-root.ts";

export const binary = join(packageRoot, "bin/lorimer.js");
export const inboxTriage = join(packageRoot, "recipes/inbox-triage");

export interface Ended {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

interface SpawnOptions {
  cwd?: string;
  /** Over the environment of the tests. */
  env?: Record<string, string>;
  /** In a process group of its own, as a terminal starts it. */
  detached?: boolean;
}

/** The command line as a process of its own, as a person would start it. */
export function startLorimer(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, detached = false }: SpawnOptions = {},
) {
  const child = spawn(process.execPath, [binary, ...args], {
    cwd,
    detached,
    env: { ...process.env, NO_COLOR: "1", LORIMER_FENCE: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { child, ended: endOf(child) };
}

export function lorimer(args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  return startLorimer(args, options).ended;
}

/** Runs it, expects it to succeed, and returns what it printed. */
export async function succeed(args: readonly string[], options: SpawnOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await lorimer(args, options);
  expect(code, `lorimer ${args.join(" ")}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** The one JSON document that it printed; the caller says what it looks like. */
export async function json<Document>(args: readonly string[], options: SpawnOptions = {}): Promise<Document> {
  return JSON.parse(await succeed([...args, "--json"], options)) as Document;
}

function endOf(child: ChildProcess): Promise<Ended> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

/** A fresh folder for each call, all gone when the file's tests are over. */
export function temporaryFolders(): () => string {
  const made: string[] = [];
  afterAll(() => {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    const dir = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-e2e-"));
    made.push(dir);
    return dir;
  };
}
