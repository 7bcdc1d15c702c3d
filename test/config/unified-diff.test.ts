import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "../../src/config/unified-diff.ts";

/** Applies hunks as `patch` would, checking every line that they claim was there. */
function applied(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out: string[] = [];
  let position = 0;
  const lines = diff.replaceAll("\n\\ No newline at end of file\n", "\0").match(/[^\n\0]*[\n\0]/g) ?? [];
  for (const line of lines) {
    const head = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@/.exec(line);
    if (head) {
      const start = Number(head[1]) - (Number(head[2]) > 0 ? 1 : 0);
      out.push(...old.slice(position, start));
      position = start;
      expect(out.length).toBe(Number(head[3]) - (Number(head[4]) > 0 ? 1 : 0));
      continue;
    }
    const text = line.slice(1).replace("\0", "");
    if (line[0] !== "+") expect(old[position++]).toBe(text);
    if (line[0] !== "-") out.push(text);
  }
  return [...out, ...old.slice(position)].join("");
}

describe("unifiedDiff", () => {
  it("shows hunks with three lines of context", () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");
    const after = before.replace("line 5\n", "line five\n").replace("line 18\n", "");
    expect(unifiedDiff(before, after)).toBe(
      "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n" +
        "@@ -15,6 +15,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n line 20\n",
    );
  });

  it("handles nothing on a side and a missing last line end", () => {
    expect(unifiedDiff("same\n", "same\n")).toBe("");
    expect(unifiedDiff("", "a\n")).toBe("@@ -0,0 +1,1 @@\n+a\n");
    expect(unifiedDiff("a\n", "")).toBe("@@ -1,1 +0,0 @@\n-a\n");
    expect(unifiedDiff("a", "a\n")).toBe("@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
  });

  it("gives the second text when applied to the first", () => {
    const text = fc
      .tuple(fc.array(fc.constantFrom("a", "b", "c", "", "+", "-x", "@@"), { maxLength: 30 }), fc.boolean())
      .map(([lines, end]) => lines.join("\n") + (end ? "\n" : ""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = unifiedDiff(before, after);
        expect(applied(before, diff)).toBe(after);
        expect(diff === "").toBe(before === after);
      }),
      { numRuns: 500 },
    );
  });

  it("stays quick on big texts that share nothing", () => {
    const big = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word}${index}\n`).join("");
    const diff = unifiedDiff(big("a"), big("b"));
    expect(diff.split("\n")).toHaveLength(10_002);
    expect(applied(big("a"), diff)).toBe(big("b"));
  });
});
