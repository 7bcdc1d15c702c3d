import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** git on the generations of a run, as a person would use it. */
export function gitIn(runDir: string, ...args: string[]): string {
  return execFileSync("git", ["-C", join(runDir, "generations"), ...args], { encoding: "utf8" }).trim();
}

/** The tree hashes of the generations, from 0. */
export function treesOf(runDir: string): string[] {
  return gitIn(runDir, "log", "--reverse", "--format=%T", "main").split("\n");
}
