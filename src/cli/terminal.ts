import { styleText } from "node:util";
import { LorimerError, messageOf } from "../lib/errors.ts";
import type { ProgressScreen } from "../report/progress.ts";
import { plainText } from "../trace/plain-text.ts";

/** The only way out: results to stdout, progress and warnings to stderr. */
export interface Terminal {
  result(text: string): void;
  json(value: unknown): void;
  warn(text: string): void;
  error(error: unknown): void;
  screen: ProgressScreen;
}

export function createTerminal(): Terminal {
  const live = liveLine(process.stderr);
  const write = (stream: NodeJS.WriteStream, text: string) => {
    live.clear();
    stream.write(text.endsWith("\n") ? text : `${text}\n`);
  };
  return {
    result: (text) => write(process.stdout, text),
    json: (value) => write(process.stdout, JSON.stringify(value, null, 2)),
    warn: (text) => write(process.stderr, paint("yellow", text)),
    error: (error) => write(process.stderr, describe(error)),
    screen: { line: (text) => write(process.stderr, text), live: live.show, now: () => performance.now() },
  };
}

function describe(error: unknown): string {
  const message = plainText(messageOf(error));
  if (error instanceof LorimerError) {
    const hint = error.hint === undefined ? "" : `\n${paint("dim", "hint:")} ${plainText(error.hint)}`;
    return `${paint("red", "error:")} ${message}${hint}`;
  }
  // Not a user's mistake: the stack is what a report needs.
  return `${paint("red", "internal error:")} ${error instanceof Error ? (error.stack ?? message) : message}`;
}

function paint(style: "red" | "yellow" | "dim", text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

/** One line that is written over; nothing at all where stderr is no terminal. */
function liveLine(stream: NodeJS.WriteStream): { show(text: string): void; clear(): void } {
  let shown = false;
  let last = 0;
  return {
    show(text) {
      if (!stream.isTTY || performance.now() - last < 50) return;
      last = performance.now();
      stream.write(`\r\x1b[2K${text.slice(0, (stream.columns || 80) - 1)}`);
      shown = true;
    },
    clear() {
      if (shown) stream.write("\r\x1b[2K");
      shown = false;
    },
  };
}
