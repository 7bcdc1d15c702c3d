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
  it("gives back the events that were written, over what a killed attempt left, with the Markdown beside it", async () => {
    const dir = temporary();
    const file = join(dir, "k.jsonl");
    writeFileSync(file, `${"x".repeat(10_000)}\n`);
    await writeTrajectory(file, events, "# a rollout\n");
    expect(readTrajectory(file)).toEqual({ events, torn: "" });
    expect(readFileSync(join(dir, "k.md"), "utf8")).toBe("# a rollout\n");
    expect(readdirSync(dir).sort()).toEqual(["k.jsonl", "k.md"]);
    await expect(writeTrajectory(join(dir, "none/k.jsonl"), events)).rejects.toMatchObject({ code: "infra" });
  });

  it("sets a torn tail aside and accepts a byte order mark", async () => {
    const file = join(temporary(), "k.jsonl");
    await writeTrajectory(file, events);
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
