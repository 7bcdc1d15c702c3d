import { join } from "node:path";
import { writeFileAtomic } from "../lib/atomic-write.ts";
import { LorimerError } from "../lib/errors.ts";
import { type AnsweredNote, foldNotes, waitingAnswers } from "./inbox.ts";
import { readLedger } from "./ledger.ts";
import { scratchDirOf } from "./paths.ts";
import { listRuns, type RunFolder } from "./run-folder.ts";

/** One run's notes, or why they cannot be read. */
export interface RunNeeds {
  run: string;
  notes: AnsweredNote[];
  problem?: string;
}

/** The notes of a run, answers that wait in its inbox included. */
export function needsOf(run: RunFolder): RunNeeds {
  try {
    const waiting = waitingAnswers(run);
    const notes = foldNotes(readLedger(run.ledgerFile).records);
    return { run: run.id, notes: notes.map((note) => ({ ...note, ...statusIn(waiting, note.id) })) };
  } catch (error) {
    if (error instanceof LorimerError) return { run: run.id, notes: [], problem: error.message };
    throw error;
  }
}

function statusIn(waiting: ReturnType<typeof waitingAnswers>, id: string): Partial<AnsweredNote> {
  const answer = waiting.get(id);
  return answer ? { status: answer.status, answer: answer.answer } : {};
}

/** The text of `_meta_scratch/NEEDS_FROM_HUMAN.md`: what every run waits for, then what was answered. */
export function renderNeeds(runs: readonly RunNeeds[]): string {
  const sections = runs.filter((needs) => needs.problem !== undefined || needs.notes.length > 0).map(section);
  const body = sections.length > 0 ? sections : ["Nothing is asked for.\n"];
  return [
    "# NEEDS_FROM_HUMAN\n",
    "Written by lorimer from the runs' ledgers; what is written in here is not read. Answer with\n" +
      '`lorimer needs answer ID "…"` or `lorimer needs deny ID`.\n',
    ...body,
  ].join("\n");
}

function section({ run, notes, problem }: RunNeeds): string {
  const open = notes.filter((note) => note.status === "open");
  const closed = notes.filter((note) => note.status !== "open");
  const lines = [
    ...(problem === undefined ? [] : [`Its notes could not be read: ${markdownText(problem)}`, ""]),
    ...open.flatMap(openNote),
    ...closed.map(
      ({ id, status, ask, answer }) =>
        `- ${id} ${status}: ${markdownText(ask)}${answer ? ` — ${markdownText(answer)}` : ""}`,
    ),
  ];
  return `## ${run}: ${open.length} open\n\n${lines.join("\n").trimEnd()}\n`;
}

function openNote({ id, kind, ask, why, evidence, blocking, round }: AnsweredNote): string[] {
  return [
    `### ${id} · ${kind}${blocking ? " · blocking" : ""} · round ${round}`,
    "",
    markdownText(ask),
    "",
    `Why: ${markdownText(why)}`,
    ...evidence.map((item) => `- ${markdownText(item)}`),
    "",
  ];
}

/** A proposer's text as text: no heading, link, code or HTML comes of it. */
function markdownText(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_<>[\]#|&!~]/g, "\\$&");
}

/** Writes the inbox of all runs beside `runsDir`. @returns its path */
export function writeNeeds(runsDir: string): string {
  const file = join(scratchDirOf(runsDir), "NEEDS_FROM_HUMAN.md");
  writeFileAtomic(file, renderNeeds(listRuns(runsDir).map(needsOf)));
  return file;
}
