import type { Command } from "commander";
import { LorimerError } from "../lib/errors.ts";
import { showScore, table } from "../report/format.ts";
import { summarise } from "../report/summary.ts";
import { readLedger } from "../store/ledger.ts";
import { listBrokenRuns, listRuns, type RunFolder } from "../store/run-folder.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";

export function registerList(program: Command, context: CommandContext): void {
  program
    .command("list")
    .description("the runs, oldest first")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((options: RunOptions) => {
      const dir = runsDirOf(context, options);
      const runs = listRuns(dir).flatMap((run) => readable(run, context));
      for (const { id, problem } of listBrokenRuns(dir)) context.terminal.warn(`${id}: ${problem.message}`);
      if (options.json) return context.terminal.json(runs);
      if (runs.length === 0)
        return context.terminal.result(`no runs in ${dir}; start one with \`lorimer evolve RECIPE\``);
      const rows = runs.map(
        ({ run, created, one_pass, model_kind, accepted, baseline, champion, stopped_by }) => [
          run,
          created.slice(0, 16).replace("T", " "),
          model_kind,
          String(accepted),
          showScore(baseline?.score ?? null),
          showScore(champion?.score ?? null),
          one_pass ? "a single pass" : (stopped_by ?? "open"),
        ],
      );
      context.terminal.result(
        table([["run", "created", "kind", "accepted", "baseline", "champion", "stopped by"], ...rows]),
      );
    });
}

/** A run whose ledger cannot be read is named, and hides none of the others. */
function readable(run: RunFolder, { terminal }: CommandContext) {
  try {
    const { created, options } = run.manifest;
    return [
      { created, one_pass: options["one_pass"] === true, ...summarise(run, readLedger(run.ledgerFile)) },
    ];
  } catch (error) {
    if (!(error instanceof LorimerError)) throw error;
    terminal.warn(`${run.id}: ${error.message}`);
    return [];
  }
}
