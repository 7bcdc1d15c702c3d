import { describe, expect, it } from "vitest";
import { progressListener } from "../../src/report/progress.ts";
import type { RunEvent } from "../../src/trace/run-events.ts";

function listening() {
  const lines: string[] = [];
  const live: string[] = [];
  let now = 0;
  const { listen, measured } = progressListener({
    line: (text) => lines.push(text),
    live: (text) => live.push(text),
    now: () => now,
  });
  return { lines, live, measured, listen, wait: (milliseconds: number) => (now += milliseconds) };
}

describe("progress", () => {
  it("shows round, step, done of total, spend and the time left in one live line", () => {
    const { live, listen, wait, measured } = listening();
    listen({ type: "round-start", round: 2, champion: "gen/0001" });
    listen({ type: "step-start", step: "confirm", detail: "R02-C01", rollouts: 4 });
    wait(3000);
    listen({ type: "rollout-done", how: "paid", costUsd: 0.25 });
    listen({ type: "rollout-done", how: "memo", costUsd: 0 });
    expect(live.at(-1)).toBe("round 2 · confirm R02-C01 · 2 of 4 rollouts · $0.25 · about 0:03 left");
    expect(measured).toEqual({ paid: 1, memo: 1 });
  });

  it("ends a round with a table of what became of each candidate", () => {
    const { lines, listen } = listening();
    const proposed = (candidate: string): RunEvent => ({
      type: "proposed",
      candidate,
      proposer: "mechanic",
      lever: "tool",
      summary: "s",
    });
    for (const id of ["R01-C01", "R01-C02", "R01-C03", "R01-C04"]) listen(proposed(id));
    listen({ type: "checked", candidate: "R01-C01", ok: false, reason: "literals: an id" });
    for (const id of ["R01-C02", "R01-C03", "R01-C04"])
      listen({ type: "checked", candidate: id, ok: true, reason: "" });
    listen({ type: "screened", candidate: "R01-C02", passed: false, reason: "no gain" });
    listen({ type: "screened", candidate: "R01-C03", passed: true, reason: "a gain" });
    listen({ type: "screened", candidate: "R01-C04", passed: true, reason: "a small gain" });
    listen({ type: "judged", candidate: "R01-C03", verdict: "accept", reason: "E 100" });
    listen({ type: "round-end", round: 1 });
    expect(
      lines
        .at(-1)
        ?.split("\n")
        .map((line) => line.trim().split(/ {2,}/)),
    ).toEqual([
      ["R01-C01", "tool", "refused", "literals: an id"],
      ["R01-C02", "tool", "ended by the screen", "no gain"],
      ["R01-C03", "tool", "accept", "E 100"],
      ["R01-C04", "tool", "passed over", "a small gain"],
    ]);
  });

  it("lets no text of a proposer or a tool reach the terminal as a code", () => {
    const { lines, listen } = listening();
    listen({
      type: "proposed",
      candidate: "R01-C01",
      proposer: "mechanic",
      lever: "tool",
      summary: "x\u001b[2Jy\r\nz",
    });
    listen({ type: "note-opened", id: "a", kind: "decision", ask: "\u001b]0;title\u0007ask" });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
    expect(lines.join("")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });
});
