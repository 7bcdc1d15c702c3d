import type { Command } from "commander";
import { LorimerError } from "../lib/errors.ts";
import { outcome } from "../report/journal.ts";
import { generationTag } from "../store/generation-history.ts";
import { openGenerations } from "../store/generations.ts";
import { plainText } from "../trace/plain-text.ts";
import { type CommandContext, isCandidate, type RunOptions, readRun, refOf } from "./context.ts";

export function registerShow(program: Command, context: CommandContext): void {
  program
    .command("show")
    .description("one generation or refused candidate: why, on what evidence, and its files")
    .argument("<which>", "gen/0003, 3, or R02-C01")
    .option("--run <run>", "which run: id, prefix or latest (the default)")
    .option("--files", "print the files too")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action(async (which: string, options: RunOptions & { run?: string; files?: boolean }) => {
      const { run, ledger } = readRun(context, options.run, options);
      const generations = await openGenerations(run.generationsDir, { readOnly: true });
      const ref = refOf(which, generations);
      const found = typeof ref === "number" ? generations.list()[ref] : undefined;
      if (found === undefined && !isCandidate(which)) throw nothingSuch(run.id, which);
      const files = await generations.readTree(ref).catch((cause: unknown) => {
        throw nothingSuch(run.id, which, cause);
      });
      const candidate = found ? found.trailers["Candidate"] : which;
      const checks =
        ledger.find("candidate-checked", (record) => record.candidate === candidate)?.checks ?? [];
      const verdict = ledger.find("verdict", (record) => record.candidate === candidate);
      if (options.json)
        return context.terminal.json({
          generation: found ?? null,
          candidate: candidate ?? null,
          checks,
          verdict: verdict ?? null,
          files: Object.fromEntries(files),
        });
      const papers = [...files].filter(
        ([path]) => path.endsWith("candidate.yaml") || path.endsWith("TOOL_SPEC.md"),
      );
      context.terminal.result(
        [
          found ? `${generationTag(found.number)}: ${found.subject}` : `${which} (refused)`,
          ...Object.entries(found?.trailers ?? {}).map(([key, value]) => `  ${key}: ${plainText(value)}`),
          ...checks.map(
            ({ name, status, findings }) =>
              `  check ${name}: ${status}${findings.map(({ message }) => `\n    ${plainText(message)}`).join("")}`,
          ),
          ...(candidate ? [`  ${outcome(ledger, candidate)}`] : []),
          "files",
          ...[...files].map(([path, text]) => `  ${path} (${text.length} characters)`),
          ...(options.files ? [...files] : papers).map(([path, text]) => `\n=== ${path}\n${plainText(text)}`),
        ].join("\n"),
      );
    });
}

function nothingSuch(run: string, which: string, cause?: unknown): LorimerError {
  return new LorimerError("missing", `${run} has no generation or refused candidate ${which}`, {
    hint: "`lorimer log` lists them.",
    cause,
  });
}
