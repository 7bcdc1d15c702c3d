import { resolve } from "node:path";
import type { Command } from "commander";
import type { CheckResult } from "../checks/check.ts";
import { runChecks, type Validation } from "../checks/run-checks.ts";
import { diagnose } from "../evolve/diagnose.ts";
import { observe } from "../evolve/observe.ts";
import { resumeRun } from "../evolve/open.ts";
import { earlierTries } from "../evolve/past-tries.ts";
import { loadGeneration, loadOptions } from "../evolve/run-state.ts";
import { openRun } from "../store/run-folder.ts";
import { plainText } from "../trace/plain-text.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";
import { interruptSignal } from "./interrupt.ts";

interface ValidateFlags extends RunOptions {
  run?: string | true;
  static?: boolean;
}

export function registerValidate(program: Command, context: CommandContext): void {
  program
    .command("validate")
    .description("the checks on a candidate's directory; exit 1 when one fails")
    .argument("<dir>")
    .option("--run [run]", "against this run's champion and records: id, prefix or latest")
    .option("--static", "without a run: what needs one does not count")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action(async (dir: string, flags: ValidateFlags) => {
      const folder = resolve(context.cwd, dir);
      const { checks, ok } =
        flags.run === undefined
          ? await runChecks(folder, { load: {} })
          : await againstRun(context, folder, flags);
      // Without a run nothing says that the candidate is good, only that nothing cheap speaks against it.
      const passed = ok && (flags.run !== undefined || flags.static === true);
      if (flags.json) context.terminal.json({ ok: passed, checks });
      else context.terminal.result([...describe(checks), conclusion(passed, flags)].join("\n"));
      if (!passed) process.exitCode = 1;
    });
}

/** Evolve split only: whoever calls this as often as they like learns nothing of the sealed ones. */
async function againstRun(context: CommandContext, dir: string, flags: ValidateFlags): Promise<Validation> {
  const interrupt = interruptSignal(context.terminal);
  const folder = openRun(runsDirOf(context, flags), flags.run === true ? "latest" : flags.run);
  const run = await resumeRun(folder, {
    concurrency: 2,
    signal: interrupt.signal,
    listen: () => {},
    overrides: {},
  });
  try {
    const champion = await loadGeneration(run, run.generations.list().length - 1);
    const { records, selfReplayShare } = diagnose(await observe(run, champion));
    return await runChecks(dir, {
      load: loadOptions(run.bench),
      literals: { evolve: run.literals.evolve },
      context: {
        bench: run.bench,
        champion: champion.harness,
        championName: champion.name,
        records,
        selfReplayShare,
        earlier: earlierTries(run, champion.generation, Number.POSITIVE_INFINITY),
      },
    });
  } finally {
    interrupt.release();
    await run.close();
  }
}

function conclusion(passed: boolean, { run, static: alone }: ValidateFlags): string {
  if (run !== undefined) return passed ? "ok" : "not ok";
  const rest = "what is skipped needs a run: --run";
  if (passed) return `ok as far as it goes; ${rest}`;
  return alone ? "not ok" : `not ok: ${rest}, or --static to leave it at that`;
}

function describe(checks: readonly CheckResult[]): string[] {
  return checks.flatMap(({ name, status, findings }) => [
    `${status.padEnd(8)}${name}`,
    ...findings.map(({ message, file, line, hint, warning }) => {
      const place = file ? `${file}${line ? `:${line}` : ""}: ` : "";
      return `        ${warning ? "warning: " : ""}${place}${plainText(message)}${hint ? `\n          hint: ${plainText(hint)}` : ""}`;
    }),
  ]);
}
