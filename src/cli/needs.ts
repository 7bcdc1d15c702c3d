import type { Command } from "commander";
import { LorimerError } from "../lib/errors.ts";
import { foldInbox, submitAnswer } from "../store/inbox.ts";
import { Ledger } from "../store/ledger.ts";
import { acquireLock } from "../store/lock.ts";
import { needsOf, writeNeeds } from "../store/needs-page.ts";
import { listRuns, type RunFolder } from "../store/run-folder.ts";
import { plainText } from "../trace/plain-text.ts";
import { type CommandContext, type RunOptions, runsDirOf } from "./context.ts";

export function registerNeeds(program: Command, context: CommandContext): void {
  const needs = program
    .command("needs")
    .description("the inbox of notes for people, over all runs")
    .option("--all", "answered ones too")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((options: RunOptions & { all?: boolean }) => listNeeds(context, options));
  needs
    .command("answer")
    .description("answer a note; the next brief has the answer")
    .argument("<id>", "the note's id")
    .argument("<text>", "what you say; proposers read it as data")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((id: string, text: string, options: RunOptions) =>
      answer(context, { ...needs.opts(), ...options }, id, { status: "answered", answer: text }),
    );
  needs
    .command("deny")
    .description("say no to a note")
    .argument("<id>", "the note's id")
    .argument("[text]", "why", "")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((id: string, text: string, options: RunOptions) =>
      answer(context, { ...needs.opts(), ...options }, id, { status: "denied", answer: text }),
    );
}

function listNeeds(context: CommandContext, options: RunOptions & { all?: boolean }) {
  const found = listRuns(runsDirOf(context, options)).map(needsOf);
  for (const { run, problem } of found) if (problem) context.terminal.warn(`${run}: ${problem}`);
  const notes = found.flatMap(({ run, notes: list }) =>
    list.filter(({ status }) => options.all || status === "open").map((note) => ({ run, ...note })),
  );
  if (options.json) return context.terminal.json(notes);
  if (notes.length === 0) return context.terminal.result("nothing is asked for");
  const shown = notes.map(({ id, run, kind, ask, why, evidence, status, blocking, answer: said }) =>
    [
      `${id}  ${kind}  ${status}${blocking ? ", blocking" : ""}  ${run}`,
      `  ${plainText(ask)}`,
      `  why: ${plainText(why)}`,
      ...(evidence.length > 0
        ? [
            `  evidence: ${evidence.map((item) => plainText(item).slice(0, 12)).join(", ")} (lorimer trajectory ID)`,
          ]
        : []),
      ...(said ? [`  answer: ${plainText(said)}`] : []),
    ].join("\n"),
  );
  context.terminal.result(
    `${shown.join("\n\n")}\n\nAnswer with \`lorimer needs answer ID "…"\` or \`lorimer needs deny ID\`.`,
  );
}

async function answer(
  context: CommandContext,
  options: RunOptions,
  id: string,
  given: { status: "answered" | "denied"; answer: string },
): Promise<void> {
  const runsDir = runsDirOf(context, options);
  const asking = listRuns(runsDir).filter((run) => needsOf(run).notes.some((note) => note.id.startsWith(id)));
  if (asking.length === 0)
    throw new LorimerError("missing", `no run has a note ${id}`, {
      hint: "`lorimer needs --all` lists them.",
    });
  for (const run of asking) {
    submitAnswer(run, id, given);
    await foldNow(run);
  }
  writeNeeds(runsDir);
  const runs = asking.map(({ id: run }) => run);
  if (options.json) return context.terminal.json({ id, ...given, runs });
  context.terminal.result(`${given.status}: ${id} in ${runs.join(", ")}; the next brief has it`);
}

/** Only the lock's holder may write the ledger: where a run is going on, it takes the answer in itself. */
async function foldNow(run: RunFolder): Promise<void> {
  let lock: ReturnType<typeof acquireLock>;
  try {
    lock = acquireLock(run.dir);
  } catch (error) {
    if (error instanceof LorimerError && error.code === "locked") return;
    throw error;
  }
  try {
    const ledger = await Ledger.open(run.ledgerFile);
    await foldInbox(run, ledger).finally(() => ledger.close());
  } finally {
    lock.release();
  }
}
