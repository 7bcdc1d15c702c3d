import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import { loadRecipe } from "../config/load-recipe.ts";
import { evolve } from "../evolve/loop.ts";
import { type OpenOptions, type OpenRun, resumeRun, startRun } from "../evolve/open.ts";
import { writeFileAtomic } from "../lib/atomic-write.ts";
import { LorimerError } from "../lib/errors.ts";
import { renderJournal } from "../report/journal.ts";
import { progressListener } from "../report/progress.ts";
import { summarise } from "../report/summary.ts";
import { summaryText } from "../report/summary-text.ts";
import { writeNeeds } from "../store/needs-page.ts";
import { openRun } from "../store/run-folder.ts";
import type { RunEvent } from "../trace/run-events.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";
import { interruptSignal } from "./interrupt.ts";
import { atLeast, number } from "./numbers.ts";

interface EvolveFlags extends RunOptions {
  rounds?: number;
  candidates?: number;
  patience?: number;
  budgetUsd?: number;
  until?: number;
  seed: number;
  concurrency: number;
  resume?: string | true;
  requireImprovement?: boolean;
}

export function registerEvolve(program: Command, context: CommandContext): void {
  program
    .command("evolve")
    .description("evolve a recipe, round by round, until a limit")
    .argument("[recipe]", "folder of a recipe")
    .option("--rounds <n>", "most rounds", atLeast(1))
    .option("--candidates <n>", "candidates a round", atLeast(1))
    .option("--patience <n>", "rounds without an acceptance before stopping", atLeast(1))
    .option("--budget-usd <n>", "US dollars that the whole run may spend", number(0))
    .option("--until <time>", "start no round after this time, such as 07:00", clockTime)
    .option("--seed <n>", "draws tasks and seeds; the same seed gives the same generations", atLeast(0), 1)
    .option(
      "--concurrency <n>",
      "rollouts at once; changes no result",
      atLeast(1),
      Math.max(2, availableParallelism()),
    )
    .option("--resume [run]", "go on with a run: id, prefix or latest")
    .option("--require-improvement", "exit 1 when nothing was accepted")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((recipe: string | undefined, flags: EvolveFlags) => runEvolve(context, recipe, flags));
}

async function runEvolve(
  context: CommandContext,
  recipe: string | undefined,
  flags: EvolveFlags,
): Promise<void> {
  const { terminal } = context;
  const started = performance.now();
  const progress = progressListener(terminal.screen);
  const interrupt = interruptSignal(terminal);
  let opened: OpenRun | undefined;
  const listen = (event: RunEvent) => {
    progress.listen(event);
    if (opened && (event.type === "round-end" || event.type === "run-end")) keepPages(opened, context, flags);
  };
  try {
    opened = await openFor(context, recipe, flags, { listen, signal: interrupt.signal });
    const { run, ledger, bench } = opened;
    listen({
      type: "run-start",
      run: run.id,
      resumed: flags.resume !== undefined,
      modelKind: bench.model.kind,
      fence: bench.fence.level,
      seed: opened.seed,
    });
    await evolve(opened);
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const summary = summarise(run, ledger, { memo: progress.measured.memo, seconds });
    if (flags.json) terminal.json(summary);
    else terminal.result(`\n${summaryText(summary, ledger)}\n  took ${seconds} s`);
    if (flags.requireImprovement && summary.accepted === 0) process.exitCode = 1;
  } catch (error) {
    // Ctrl-C reaches git and the compiler too: what they say then is part of the interruption.
    if (opened && interrupt.signal.aborted)
      throw new LorimerError("interrupted", `interrupted; ${opened.run.id} keeps all that was paid for`, {
        hint: `Go on with \`lorimer evolve --resume ${opened.run.id}\`.`,
      });
    throw error;
  } finally {
    interrupt.release();
    try {
      if (opened) keepPages(opened, context, flags);
    } finally {
      await opened?.close();
    }
  }
}

async function openFor(
  context: CommandContext,
  recipe: string | undefined,
  flags: EvolveFlags,
  { listen, signal }: Pick<OpenOptions, "listen" | "signal">,
): Promise<OpenRun> {
  const { rounds, candidates, patience, until, budgetUsd: usd, concurrency, seed } = flags;
  const given = Object.entries({ rounds, candidates, patience, until, usd }).filter(
    ([, value]) => value !== undefined,
  );
  const options: OpenOptions = { concurrency, signal, listen, overrides: Object.fromEntries(given) };
  const runsDir = runsDirOf(context, flags);
  if (flags.resume !== undefined) {
    const run = openRun(runsDir, flags.resume === true ? "latest" : flags.resume);
    return await resumeRun(
      run,
      recipe === undefined ? options : { ...options, recipeDir: resolve(context.cwd, recipe) },
    );
  }
  if (recipe === undefined)
    throw new LorimerError("usage", "name a recipe's folder, or --resume a run", {
      hint: "For example `lorimer evolve recipes/inbox-triage`.",
    });
  return await startRun(loadRecipe(resolve(context.cwd, recipe)), { ...options, runsDir, seed });
}

/** Pages that are renderings of the ledger: written as the run goes on, for whoever looks in meanwhile. */
function keepPages({ run, ledger }: OpenRun, context: CommandContext, flags: EvolveFlags): void {
  writeFileAtomic(run.journalFile, renderJournal(run.id, ledger), { durable: false });
  writeNeeds(runsDirOf(context, flags));
}

/** The next time that the clock shows `hh:mm`, in milliseconds since the epoch. */
function clockTime(text: string): number {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined || minutes === undefined)
    throw new LorimerError("usage", `--until ${text} is no time`, { hint: "Write it as 07:00." });
  const time = new Date();
  time.setHours(Number(hours), Number(minutes), 0, 0);
  if (time.getTime() <= Date.now()) time.setDate(time.getDate() + 1);
  return time.getTime();
}
