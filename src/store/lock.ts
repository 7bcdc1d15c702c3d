import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import { sha256 } from "../lib/hash.ts";

const holderSchema = z.strictObject({
  pid: z.number().int(),
  start: z
    .string()
    .describe("Start time of the process in clock ticks: a pid is used again, this pair is not"),
  boot_id: z.string(),
});
/** The process that holds a run. */
export type LockHolder = z.infer<typeof holderSchema>;

export interface Lock {
  release(): void;
}

/**
 * Takes the run for this process; the lock of a process that is gone is taken over, by one taker only.
 * @throws LorimerError `locked` naming the owner, `infra` when the folder cannot be written
 */
export function acquireLock(runDir: string): Lock {
  const file = join(runDir, "lock");
  const mine = `${JSON.stringify(thisProcess())}\n`;
  const owner = claim(file, mine);
  if (owner !== undefined) {
    throw new LorimerError("locked", `${runDir} is in use by process ${owner.pid}`, {
      hint: `Wait until it ends, or end it with \`kill -INT ${owner.pid}\`; \`lorimer status\` shows where it stands.`,
    });
  }
  return {
    release() {
      if (readText(file) === mine) rmSync(file, { force: true });
    },
  };
}

/** The living process that holds the run, if one does. */
export function lockHolder(runDir: string): LockHolder | undefined {
  return livingHolder(readText(join(runDir, "lock")));
}

/**
 * Makes `file` hold `mine`, or returns the living process that has it. A dead owner's file is replaced only under a second
 * claim named after its bytes: whoever else found the same dead owner loses that claim, or finds other bytes under it.
 */
function claim(file: string, mine: string): LockHolder | undefined {
  for (;;) {
    if (linkNew(file, mine)) return undefined;
    const found = readText(file);
    if (found === undefined) continue;
    const holder = livingHolder(found);
    if (holder) return holder;
    const takeover = `${file}.${sha256(found).slice(0, 12)}`;
    const rival = claim(takeover, mine);
    if (rival) return rival;
    const replaced = readText(file) === found;
    if (replaced) writeOver(file, mine);
    rmSync(takeover, { force: true });
    if (replaced) return undefined;
  }
}

/** Creates `file` with all of its bytes at once, unless it exists. */
function linkNew(file: string, bytes: string): boolean {
  const temporary = writeTemporary(file, bytes);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw cannotWrite(file, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeOver(file: string, bytes: string): void {
  renameSync(writeTemporary(file, bytes), file);
}

function writeTemporary(file: string, bytes: string): string {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, bytes);
  } catch (error) {
    throw cannotWrite(file, error);
  }
  return temporary;
}

function cannotWrite(file: string, error: unknown): LorimerError {
  return new LorimerError("infra", `cannot write ${file}: ${messageOf(error)}`, { cause: error });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new LorimerError("infra", `cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function livingHolder(text: string | undefined): LockHolder | undefined {
  const holder = text === undefined ? undefined : parseHolder(text);
  if (holder === undefined || holder.boot_id !== bootId()) return undefined;
  return startOf(holder.pid) === holder.start ? holder : undefined;
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function thisProcess(): LockHolder {
  return { pid: process.pid, start: startOf(process.pid) ?? "", boot_id: bootId() };
}

function bootId(): string {
  return (readText("/proc/sys/kernel/random/boot_id") ?? "").trim();
}

/** Field 22 of /proc/<pid>/stat; undefined when there is no such process, or only its zombie. */
function startOf(pid: number): string | undefined {
  const stat = readStat(pid);
  // The name of the program, in brackets, may hold spaces and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  return state === "Z" || state === "X" ? undefined : fields[19];
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
