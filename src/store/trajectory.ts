import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { z } from "zod";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import { type JsonLines, parseJsonLines, toJsonLines } from "../lib/json-lines.ts";
import { type TraceEvent, traceEventSchema } from "../trace/events.ts";

/**
 * Writes a rollout's events as JSON lines, and what people read beside them as Markdown. Not flushed to the disk, nor by
 * way of another name: a rollout counts once the ledger says so, and until then the next attempt writes them anew.
 * @throws LorimerError `infra` when the disk fails
 */
export async function writeTrajectory(
  file: string,
  events: readonly TraceEvent[],
  markdown?: string,
): Promise<void> {
  try {
    await Promise.all([
      writeFile(file, toJsonLines(events)),
      markdown === undefined ? undefined : writeFile(file.replace(/\.jsonl$/, ".md"), markdown),
    ]);
  } catch (error) {
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
