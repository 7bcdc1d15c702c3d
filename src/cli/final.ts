import type { Command } from "commander";
import { scoreFinal } from "../evolve/final.ts";
import { resumeRun } from "../evolve/open.ts";
import { showInterval, showScore } from "../report/format.ts";
import { progressListener } from "../report/progress.ts";
import { generationTag } from "../store/generation-history.ts";
import { readLedger } from "../store/ledger.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import { listRuns, openRun } from "../store/run-folder.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";
import { interruptSignal } from "./interrupt.ts";

export function registerFinal(program: Command, context: CommandContext): void {
  program
    .command("final")
    .description("score the champion on the sealed test split, once; afterwards the run is closed")
    .argument("[run]", "id, prefix or latest")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action(async (wanted: string | undefined, options: RunOptions) => {
      const { terminal } = context;
      const runsDir = runsDirOf(context, options);
      const run = openRun(runsDir, wanted);
      const stored = readLedger(run.ledgerFile).all("final")[0];
      const record = stored ?? (await scoreNow(context, runsDir, run));
      const document = {
        run: run.id,
        model_kind: run.manifest.model.kind,
        stored: stored !== undefined,
        ...resultOf(record),
      };
      if (options.json) return terminal.json(document);
      const { score, interval, n, generation, numbers } = record;
      const looks = Number(numbers["looks"]);
      terminal.result(
        [
          `${generationTag(generation)} scores ${showScore(score)} ${showInterval(interval)} on this suite, ${showInterval(numbers["on_new_tasks"] as [number, number])} on new tasks like these (sealed test split, n ${n}, model kind ${document.model_kind})`,
          ...(looks > 1
            ? [
                `reused (${looks}): this task set was looked at ${looks} times; the score is no longer that of unseen tasks`,
              ]
            : []),
          stored
            ? "this is the stored result: the split is scored once"
            : `${run.id} is closed now: what came after would be chosen with the test in view`,
        ].join("\n"),
      );
    });
}

async function scoreNow(
  context: CommandContext,
  runsDir: string,
  run: ReturnType<typeof openRun>,
): Promise<LedgerRecordOf<"final">> {
  const before = listRuns(runsDir).filter(
    (other) =>
      other.manifest.task_set_hash === run.manifest.task_set_hash &&
      readLedger(other.ledgerFile).all("final").length > 0,
  ).length;
  const interrupt = interruptSignal(context.terminal);
  const { listen } = progressListener(context.terminal.screen);
  const opened = await resumeRun(run, { concurrency: 4, signal: interrupt.signal, listen, overrides: {} });
  try {
    return await scoreFinal(opened, before + 1);
  } finally {
    interrupt.release();
    await opened.close();
  }
}

function resultOf({ generation, score, interval, n, numbers }: LedgerRecordOf<"final">) {
  return { generation, score, interval, n, ...numbers };
}
