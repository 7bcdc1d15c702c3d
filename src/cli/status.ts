import type { Command } from "commander";
import { clock } from "../report/format.ts";
import { summarise } from "../report/summary.ts";
import { summaryText } from "../report/summary-text.ts";
import { lockHolder } from "../store/lock.ts";
import { type CommandContext, type RunOptions, readRun } from "./context.ts";

export function registerStatus(program: Command, context: CommandContext): void {
  program
    .command("status")
    .description("where a run stands")
    .argument("[run]", "id, prefix or latest")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((wanted: string | undefined, options: RunOptions) => {
      const { run, ledger } = readRun(context, wanted, options);
      const summary = summarise(run, ledger);
      const holder = lockHolder(run.dir);
      if (options.json) return context.terminal.json({ ...summary, running_pid: holder?.pid ?? null });
      if (run.manifest.options["one_pass"] === true) {
        const { paid } = summary.rollouts;
        return context.terminal.result(
          `${run.id}: a single pass of \`lorimer run\`, ${paid} rollouts, model kind ${summary.model_kind}`,
        );
      }
      const age = clock((Date.now() - Date.parse(run.manifest.created)) / 1000);
      const state = holder
        ? `running as process ${holder.pid}`
        : summary.stopped_by
          ? `stopped by ${summary.stopped_by}`
          : "not running; go on with `lorimer evolve --resume`";
      context.terminal.result(
        `${run.id}: ${state}; round ${summary.rounds}, started ${age} (minutes:seconds) ago\n\n${summaryText(summary, ledger)}`,
      );
    });
}
