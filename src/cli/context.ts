import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LoadedHarness } from "../config/harness.ts";
import { loadHarness } from "../config/load-harness.ts";
import { LorimerError } from "../lib/errors.ts";
import { generationTag } from "../store/generation-history.ts";
import { type Generations, openGenerations } from "../store/generations.ts";
import { type LedgerView, readLedger } from "../store/ledger.ts";
import { findRunsDir } from "../store/paths.ts";
import { openRun, type RunFolder } from "../store/run-folder.ts";
import type { Terminal } from "./terminal.ts";

/** What every command is given. */
export interface CommandContext {
  terminal: Terminal;
  cwd: string;
}

/** Options that every command on a run has. */
export interface RunOptions {
  runs?: string;
  json?: boolean;
}

export function runsDirOf({ cwd }: CommandContext, { runs }: RunOptions): string {
  return findRunsDir({ cwd, override: runs });
}

/** A run by id, prefix or `latest`, with its ledger as it stands. */
export function readRun(
  context: CommandContext,
  wanted: string | undefined,
  options: RunOptions,
): { run: RunFolder; ledger: LedgerView } {
  const run = openRun(runsDirOf(context, options), wanted);
  if (!existsSync(run.ledgerFile))
    throw new LorimerError("infra", `${run.dir} has no ledger.jsonl: what it holds cannot be told`, {
      hint: "The ledger is the run's memory; put it back from a copy.",
    });
  return { run, ledger: readLedger(run.ledgerFile) };
}

/** A harness by folder, or by generation, candidate or git ref of a run. */
export async function readHarness(which: string, run: RunFolder): Promise<LoadedHarness> {
  if (existsSync(join(which, "config.yaml"))) return loadHarness(which);
  const generations = await openGenerations(run.generationsDir, { readOnly: true });
  return loadHarness(await generations.exportTree(refOf(which, generations), run.exportsDir));
}

/** What git knows a generation or candidate by that a person calls `3`, `gen/0003` or `R02-C01`. */
export function refOf(which: string, generations: Generations): number | string {
  const accepted = generations
    .list()
    .find(
      ({ number, trailers }) =>
        which === String(number) || which === generationTag(number) || which === trailers["Candidate"],
    );
  if (accepted) return accepted.number;
  return isCandidate(which) ? `refs/candidates/${which}` : which;
}

/** Whether it has the form of a candidate's id, such as `R02-C01`. */
export function isCandidate(which: string): boolean {
  return /^R\d+-C\d+$/.test(which);
}
