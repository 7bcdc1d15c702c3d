import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTrajectory, writeTrajectory } from "../../src/store/trajectory.ts";
import type { TraceEvent } from "../../src/trace/events.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();
const events: TraceEvent[] = [
  { type: "messages-append", messages: [{ role: "user", content: "grüße\u2028\ud800" }] },
  { type: "model-request", step: 0, digest: "d" },
  { type: "nudge", step: 0, reason: "empty_reply" },
];

describe("a trajectory file", () => {
  it("gives back the events that were written, and leaves nothing beside it", () => {
    const dir = temporary();
    const file = join(dir, "rollouts/k.jsonl");
    writeTrajectory(file, events);
    expect(readTrajectory(file)).toEqual({ events, torn: "" });
    expect(readdirSync(join(dir, "rollouts"))).toEqual(["k.jsonl"]);
  });

  it("sets a torn tail aside and accepts a byte order mark", () => {
    const file = join(temporary(), "k.jsonl");
    writeTrajectory(file, events);
    writeFileSync(file, `\ufeff${readFileSync(file, "utf8")}{"step":7,"ro`);
    expect(readTrajectory(file)).toEqual({ events, torn: '{"step":7,"ro' });
  });

  it("names the event that is none", () => {
    const file = join(temporary(), "k.jsonl");
    writeFileSync(file, '{"type":"nudge","step":0,"reason":"empty_reply"}\n{"type":"bribe"}\n');
    expect(() => readTrajectory(file)).toThrow(/k\.jsonl: event 2 is none/);
    writeFileSync(file, '{"type"\n{"type":"nudge","step":0,"reason":"empty_reply"}\n');
    expect(() => readTrajectory(file)).toThrow(/line 1 is not JSON/);
    expect(() => readTrajectory(join(temporary(), "none.jsonl"))).toThrow(
      expect.objectContaining({ code: "missing" }),
    );
  });
});
