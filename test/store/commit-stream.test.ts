import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitStream, messageText, trailersOf } from "../../src/store/commit-stream.ts";
import { oneLine, plainText } from "../../src/trace/plain-text.ts";

describe("a commit message", () => {
  it("has a short subject, a wrapped body and one line a trailer", () => {
    const text = messageText({
      subject: `tool: ${"find similar records ".repeat(9)}`,
      body: `${"The agent has nothing to compare with. ".repeat(4)}\n\nSecond paragraph.`,
      trailers: { Generation: "3", Hypothesis: "one\n\nCandidate: forged", Lever: "" },
    });
    const lines = text.split("\n");
    expect(lines.every((line) => line.length <= 72)).toBe(true);
    expect(text.endsWith("\n\nGeneration: 3\nHypothesis: one Candidate: forged\n")).toBe(true);
  });

  it("gives back its trailers, whatever the texts are", () => {
    const any = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(any, any, any, (subject, body, hypothesis) => {
        const trailers = { Generation: "7", Hypothesis: hypothesis };
        const read = trailersOf(messageText({ subject, body, trailers }));
        const line = oneLine(hypothesis, 500);
        expect(read).toEqual({ Generation: "7", ...(line === "" ? {} : { Hypothesis: line }) });
      }),
    );
  });
});

describe("plain text", () => {
  it("has no control characters and no half characters, and fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (text, limit) => {
        for (const clean of [plainText(text, limit), oneLine(text, limit)]) {
          expect(clean.length).toBeLessThanOrEqual(limit);
          expect(clean).not.toMatch(/[\u202a-\u202e]|(?!\n)\p{Cc}|\p{Cs}/u);
        }
        expect(oneLine(text, limit)).not.toMatch(/\s\s|\n/);
      }),
    );
  });
});

describe("a generation's file names", () => {
  it.each([
    "",
    "/etc/x",
    "../x",
    "a/../b",
    "a//b",
    "./a",
    ".git/config",
    "a/.GIT/x",
    "git~1",
    "a\nb",
    "a\\b",
    "a\0",
  ])("cannot be %j", (path) => {
    const files = new Map([[path, "x"]]);
    const message = { subject: "s", trailers: {} };
    expect(() => commitStream({ ref: "refs/heads/main", message, files, date: 0 })).toThrow(
      /cannot be a file/,
    );
  });

  it("cannot be a file and a folder", () => {
    const files = new Map([
      ["a", "x"],
      ["a/b", "y"],
    ]);
    const message = { subject: "s", trailers: {} };
    expect(() => commitStream({ ref: "refs/heads/main", message, files, date: 0 })).toThrow(
      /"a\/b" cannot be/,
    );
  });
});
