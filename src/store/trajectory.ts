import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import { type JsonLines, parseJsonLines, toJsonLines } from "../lib/json-lines.ts";
import { type TraceEvent, traceEventSchema } from "../trace/events.ts";

/**
 * Writes a rollout's events as JSON lines, whole or not at all. Not flushed to the disk: a rollout counts once the ledger
 * says so, and a trajectory lost with the power is only missed as evidence.
 * @throws LorimerError `infra` when the disk fails
 */
export function writeTrajectory(file: string, events: readonly TraceEvent[]): void {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, toJsonLines(events));
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new LorimerError("infra", `cannot write ${file}: ${messageOf(error)}`, {
      hint: "Free some disk space, then go on with --resume.",
      cause: error,
    });
  }
}

export interface Trajectory {
  events: TraceEvent[];
  /** What stands after the last whole line, if the file was cut. */
  torn: string;
}

/**
 * Reads a trajectory, every line validated; a torn tail is set aside.
 * @throws LorimerError `missing` when there is no such file, `infra` naming the event that is none
 */
export function readTrajectory(file: string): Trajectory {
  const { values, torn } = readJsonLines(file);
  const events = values.map((value, index) => {
    const parsed = traceEventSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new LorimerError("infra", `${file}: event ${index + 1} is none: ${z.prettifyError(parsed.error)}`);
  });
  return { events, torn };
}

function readJsonLines(file: string): JsonLines {
  try {
    return parseJsonLines(readFileSync(file, "utf8"));
  } catch (error) {
    const missing = systemCode(error) === "ENOENT";
    throw new LorimerError(missing ? "missing" : "infra", `cannot read ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
