import type { Command } from "commander";
import { showInterval, signed } from "../report/format.ts";
import { renderJournal } from "../report/journal.ts";
import { refusals } from "../report/summary.ts";
import { generationTag } from "../store/generation-history.ts";
import { oneLine } from "../trace/plain-text.ts";
import { type CommandContext, type RunOptions, readRun } from "./context.ts";

export function registerLog(program: Command, context: CommandContext): void {
  program
    .command("log")
    .description("the generations of a run, newest first, and what was refused")
    .argument("[run]", "id, prefix or latest")
    .option("--journal", "everything, round by round")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((wanted: string | undefined, options: RunOptions & { journal?: boolean }) => {
      const { run, ledger } = readRun(context, wanted, options);
      const generations = ledger.all("committed").map(({ generation, candidate, commit, tree }) => {
        const proposed = ledger.find("candidate-proposed", (record) => record.candidate === candidate);
        const verdict = ledger.find("verdict", (record) => record.candidate === candidate);
        return {
          generation,
          candidate,
          commit,
          tree,
          lever: proposed?.lever ?? null,
          hypothesis: proposed?.hypothesis ?? "",
          numbers: verdict?.numbers ?? null,
        };
      });
      const refused = refusals(ledger);
      if (options.json) return context.terminal.json({ run: run.id, generations, refused });
      if (options.journal) return context.terminal.result(renderJournal(run.id, ledger));
      const shown = [...generations]
        .reverse()
        .map(({ generation, candidate, commit, lever, hypothesis, numbers }) => {
          const effect = numbers
            ? ` ${signed(Number(numbers["effect"]))} ${showInterval(numbers["interval"] as { low: number; high: number })}`
            : "";
          const head = `${generationTag(generation)}  ${commit.slice(0, 10)}  ${candidate ?? "baseline"}${lever ? `  ${lever}` : ""}${effect}`;
          return hypothesis === "" ? head : `${head}\n    ${oneLine(hypothesis, 200)}`;
        });
      const not = refused.map(
        ({ candidate, lever, by, reason }) => `${candidate}  ${lever}  by ${by}: ${oneLine(reason, 160)}`,
      );
      context.terminal.result(
        [...shown, ...(not.length > 0 ? ["", "refused", ...not.map((line) => `  ${line}`)] : [])].join("\n"),
      );
    });
}
