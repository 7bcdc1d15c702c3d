import { LorimerError } from "../lib/errors.ts";
import { oneLine, plainText } from "../trace/plain-text.ts";

/** What a commit says; the order of the trailers is kept. */
export interface CommitMessage {
  subject: string;
  body?: string;
  trailers: Readonly<Record<string, string>>;
}

interface CommitRequest {
  /** Full name of the ref that gets the commit: `refs/heads/main`. */
  ref: string;
  parent?: string | undefined;
  message: CommitMessage;
  /** The whole tree. */
  files: ReadonlyMap<string, string>;
  /** See `dateOf`. */
  date: number;
  tag?: string;
}

// Commits carry a made-up time, so that equal runs have equal commits and not only equal trees: this plus a second a generation.
const firstCommit = Date.UTC(2024, 0, 1) / 1000;

/** The fixed time of a generation's commit, in seconds. */
export function dateOf(generation: number): number {
  return firstCommit + generation;
}

const signature = (date: number) => `lorimer <lorimer@localhost> ${date} +0000`;

/**
 * One commit as a stream for `git fast-import`: all of it or nothing is taken, and no index, hook, filter or identity of
 * the person's has a part in it. git answers with the commit's hash. The tag is written after the branch.
 */
export function commitStream(request: CommitRequest): string {
  const { ref, parent, message, files, date, tag } = request;
  return [
    "feature done\n",
    `commit ${ref}\nmark :1\ncommitter ${signature(date)}\n${data(messageText(message))}`,
    parent === undefined ? "" : `from ${parent}\n`,
    "deleteall\n",
    ...[...files].map(([path, content]) => `M 100644 inline ${quoted(path, files)}\n${data(content)}`),
    "\nget-mark :1\n",
    tag === undefined ? "" : tagCommand(tag, ":1", date),
    "done\n",
  ].join("");
}

/** A tag alone, for a commit whose tag was lost to a kill. */
export function tagStream(tag: string, commit: string, date: number): string {
  return `feature done\n${tagCommand(tag, commit, date)}done\n`;
}

function tagCommand(tag: string, target: string, date: number): string {
  return `tag ${tag}\nfrom ${target}\ntagger ${signature(date)}\n${data(tag)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function quoted(path: string, files: ReadonlyMap<string, string>): string {
  const parts = path.split("/");
  const reserved = parts.some((part) => /^(\.{0,2}|\.git|git~\d+)$/i.test(part));
  const insideFile = parts.some((_part, depth) => depth > 0 && files.has(parts.slice(0, depth).join("/")));
  if (reserved || insideFile || /[\p{Cc}\p{Cs}\\]/u.test(path)) {
    throw new LorimerError("refused", `${JSON.stringify(path)} cannot be a file of a generation`);
  }
  return `"${path.replaceAll('"', '\\"')}"`;
}

/** Subject, wrapped body, trailers as the last paragraph: each trailer one line. */
export function messageText({ subject, body = "", trailers }: CommitMessage): string {
  const lines = Object.entries(trailers)
    .map(([key, value]) => [key, oneLine(value, 500)])
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}: ${value}`);
  const paragraphs = [oneLine(subject, 72), wrapped(plainText(body, 4000)), lines.join("\n")];
  return `${paragraphs.filter((paragraph) => paragraph !== "").join("\n\n")}\n`;
}

function wrapped(text: string): string {
  return text
    .split("\n")
    .map((line) => line.replace(/(.{1,72})(?:\s+|$)/gu, "$1\n").trimEnd())
    .join("\n");
}

/** The trailers of a message: its last paragraph. */
export function trailersOf(message: string): Record<string, string> {
  const last = message.trimEnd().split("\n\n").at(-1) ?? "";
  const pairs = last.split("\n").map((line) => /^([A-Za-z][A-Za-z-]*): (.*)$/.exec(line));
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? "", pair[2] ?? ""]] : [])));
}
