import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startLorimer } from "./lorimer.ts";

/** A moment of a run: what its ledger holds by then. */
export type Moment = RegExp | { type: string; count: number };

/** Ctrl-C on a terminal goes to all that runs in the foreground: to what lorimer has started, too. */
type Signal = "SIGKILL" | "SIGINT" | "Ctrl-C";

/** Starts lorimer and sends it a signal as soon as the ledger shows the moment. */
export async function signalAt(
  args: readonly string[],
  { runDir, moment, signal }: { runDir: string; moment: Moment; signal: Signal },
) {
  const { child, ended } = startLorimer(args, { detached: true });
  const ledger = followFile(join(runDir, "ledger.jsonl"));
  let sent = false;
  while (child.exitCode === null && child.signalCode === null) {
    if (!sent && shows(ledger.text(), moment))
      sent = signal === "Ctrl-C" ? process.kill(-(child.pid ?? 0), "SIGINT") : child.kill(signal);
    await setTimeout(2);
  }
  ledger.close();
  const result = { ...(await ended), sent, pid: child.pid ?? 0 };
  if (signal === "SIGKILL") await nothingRuns(runDir);
  return result;
}

function shows(text: string, moment: Moment): boolean {
  if (moment instanceof RegExp) return moment.test(text);
  return text.split(`"type":"${moment.type}"`).length > moment.count;
}

/** What a file that only grows holds so far, each byte read once. */
function followFile(file: string): { text(): string; close(): void } {
  let descriptor: number | undefined;
  let text = "";
  const chunk = Buffer.alloc(1 << 16);
  return {
    text() {
      descriptor ??= openIfThere(file);
      if (descriptor === undefined) return text;
      for (let read = -1; read !== 0; ) {
        read = readSync(descriptor, chunk);
        text += chunk.toString("latin1", 0, read);
      }
      return text;
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch {
    return undefined;
  }
}

/** Resolves once no process is left that names the folder: a worker goes with the process that started it. */
async function nothingRuns(folder: string): Promise<void> {
  while (commandLines().some((line) => line.includes(folder))) await setTimeout(5);
}

function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return ""; // It has just ended.
      }
    });
}
