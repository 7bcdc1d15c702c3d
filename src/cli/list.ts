import type { Command } from "commander";
import { showScore, table } from "../report/format.ts";
import { summarise } from "../report/summary.ts";
import { readLedger } from "../store/ledger.ts";
import { listBrokenRuns, listRuns } from "../store/run-folder.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";

export function registerList(program: Command, context: CommandContext): void {
  program
    .command("list")
    .description("the runs, oldest first")
    .option("--runs <dir>", "folder of runs")
    .option("--json", "print one JSON document")
    .action((options: RunOptions) => {
      const dir = runsDirOf(context, options);
      const runs = listRuns(dir).map((run) => ({
        created: run.manifest.created,
        one_pass: run.manifest.options["one_pass"] === true,
        ...summarise(run, readLedger(run.ledgerFile)),
      }));
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
