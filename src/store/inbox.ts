import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { NoteDraft } from "../config/candidate-schema.ts";
import { writeFileAtomic } from "../lib/atomic-write.ts";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import { plainText } from "../trace/plain-text.ts";
import { type Ledger, readLedger } from "./ledger.ts";
import type { LedgerRecord } from "./ledger-records.ts";
import { type Note, noteFrom } from "./note-schema.ts";
import type { RunFolder } from "./run-folder.ts";

/** Longest answer, in characters. */
const answerLimit = 4000;
const fileLimit = 64 * 1024;

/** A note with what a person said to it. */
export interface AnsweredNote extends Note {
  answer?: string;
  by?: string | undefined;
}

/** Every note of a run in the order of asking: the ledger's records folded. */
export function foldNotes(records: readonly LedgerRecord[]): AnsweredNote[] {
  const notes = new Map<string, AnsweredNote>();
  for (const record of records) {
    if (record.type === "note-opened") {
      const known = notes.get(record.note.id);
      // Asked again: an answer still holds, a wish that expired is a wish once more.
      if (known === undefined || known.status === "expired") notes.set(record.note.id, record.note);
    } else if (record.type === "note-answered") {
      const known = notes.get(record.id);
      const by = record.by === undefined ? {} : { by: record.by };
      if (known) notes.set(record.id, { ...known, status: record.status, answer: record.answer, ...by });
    }
  }
  return [...notes.values()];
}

/** The notes that wait for a person. */
export function openNotes(records: readonly LedgerRecord[]): AnsweredNote[] {
  return foldNotes(records).filter((note) => note.status === "open");
}

/** Opens a proposer's note, unless the run has it already; resolves with the note as the run has it. */
export async function recordNote(ledger: Ledger, draft: NoteDraft, round: number): Promise<AnsweredNote> {
  const note = noteFrom(draft, round);
  const known = foldNotes(ledger.records).find(({ id }) => id === note.id);
  if (known && known.status !== "expired") return known;
  await ledger.append({ type: "note-opened", note });
  return note;
}

const answerSchema = z.strictObject({
  v: z.literal(1),
  id: z.string(),
  status: z.enum(["answered", "denied"]),
  answer: z.string(),
  by: z.string().max(100).optional(),
});
type Answer = z.infer<typeof answerSchema>;

/**
 * Leaves a person's answer for the process that holds the run, or for the next one that resumes it. `id` may be a prefix.
 * @returns the note that it is for
 * @throws LorimerError `missing` for an unknown note, `usage` for an answer that is empty or too long
 */
export function submitAnswer(
  run: RunFolder,
  id: string,
  given: { status: Answer["status"]; answer: string; by?: string },
): AnsweredNote {
  const note = noteOf(run, id);
  const answer = plainText(given.answer, Number.POSITIVE_INFINITY);
  if (answer === "" && given.status === "answered") throw new LorimerError("usage", "the answer is empty");
  if (answer.length > answerLimit) {
    throw new LorimerError("usage", `the answer has ${answer.length} characters; ${answerLimit} are allowed`);
  }
  const file: Answer = { v: 1, ...given, id: note.id, answer };
  try {
    // One file a note: a second answer before the first was read takes its place.
    writeFileAtomic(join(run.inboxDir, `${note.id}.json`), `${JSON.stringify(file)}\n`);
  } catch (error) {
    throw new LorimerError("infra", `cannot write to ${run.inboxDir}: ${messageOf(error)}`, { cause: error });
  }
  return note;
}

function noteOf(run: RunFolder, wanted: string): AnsweredNote {
  const notes = foldNotes(readLedger(run.ledgerFile).records);
  const matches = notes.filter(({ id }) => wanted !== "" && id.startsWith(wanted));
  const note = notes.find(({ id }) => id === wanted) ?? (matches.length === 1 ? matches[0] : undefined);
  if (note) return note;
  const ids = notes.map(({ id }) => id).join(", ");
  throw new LorimerError(
    matches.length > 1 ? "usage" : "missing",
    `${matches.length > 1 ? "more than one note starts with" : "there is no note"} "${wanted}" in ${run.id}`,
    { hint: ids === "" ? "This run has asked for nothing." : `Its notes: ${ids}.` },
  );
}

/** Answers by note id that lie in the inbox and were not read yet. */
export function waitingAnswers(run: RunFolder): Map<string, { status: Answer["status"]; answer: string }> {
  const waiting = new Map<string, Answer>();
  for (const name of inboxNames(run.inboxDir)) {
    const read = readAnswer(join(run.inboxDir, name));
    if ("id" in read) waiting.set(read.id, read);
  }
  return waiting;
}

export interface FoldedInbox {
  /** Notes that were answered by this fold. */
  answered: AnsweredNote[];
  /** Files that are no answer, moved to `inbox/refused/`. */
  refused: { file: string; reason: string }[];
}

/**
 * Turns the inbox's files into ledger records; for the holder of the run's lock. A file goes once its record is durable, so
 * a kill in between answers nothing twice.
 */
export async function foldInbox(run: RunFolder, ledger: Ledger): Promise<FoldedInbox> {
  const folded: FoldedInbox = { answered: [], refused: [] };
  for (const name of inboxNames(run.inboxDir)) {
    const file = take(run.inboxDir, name);
    const read = readAnswer(file);
    const note = "id" in read ? foldNotes(ledger.records).find(({ id }) => id === read.id) : undefined;
    if (!("id" in read) || note === undefined) {
      const reason = "reason" in read ? read.reason : "the run has no such note";
      folded.refused.push({ file: setAside(run.inboxDir, file, reason), reason });
      continue;
    }
    const { v: _, ...answer } = read;
    if (note.status !== answer.status || note.answer !== answer.answer) {
      await ledger.append({ type: "note-answered", ...answer });
      folded.answered.push({ ...note, ...answer });
    }
    rmSync(file, { force: true });
  }
  return folded;
}

const takenEnd = ".taken";

/** Files of an earlier fold that was killed come first: they are older. */
function inboxNames(inboxDir: string): string[] {
  const names = listNames(inboxDir)
    .filter((name) => name !== "refused" && !name.startsWith(".") && !name.endsWith(".tmp"))
    .sort();
  return [
    ...names.filter((name) => name.endsWith(takenEnd)),
    ...names.filter((name) => !name.endsWith(takenEnd)),
  ];
}

function listNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new LorimerError("infra", `cannot read ${dir}: ${messageOf(error)}`, { cause: error });
  }
}

/** Renamed first: an answer that a person gives while this one is being recorded is another file. */
function take(inboxDir: string, name: string): string {
  if (name.endsWith(takenEnd)) return join(inboxDir, name);
  const taken = join(inboxDir, `${name}${takenEnd}`);
  renameSync(join(inboxDir, name), taken);
  return taken;
}

function readAnswer(file: string): Answer | { reason: string } {
  try {
    const stat = lstatSync(file);
    if (!stat.isFile()) return { reason: "not a plain file" };
    if (stat.size > fileLimit) return { reason: `longer than ${fileLimit} bytes` };
    const parsed = answerSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (!parsed.success) return { reason: z.prettifyError(parsed.error) };
    return { ...parsed.data, answer: plainText(parsed.data.answer, answerLimit) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

function setAside(inboxDir: string, file: string, reason: string): string {
  const dir = join(inboxDir, "refused");
  mkdirSync(dir, { recursive: true });
  const target = join(dir, file.slice(inboxDir.length + 1, -takenEnd.length));
  rmSync(target, { recursive: true, force: true });
  renameSync(file, target);
  writeFileAtomic(`${target}.reason.txt`, `${reason}\n`);
  return target;
}
