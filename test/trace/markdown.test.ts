import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { TraceEvent } from "../../src/trace/events.ts";
import { renderTrace } from "../../src/trace/markdown.ts";
import { called, end, opening, reply, start, traceOf } from "./trajectory.ts";

const label = { outcome: "fail", score: 0 };

/** Front matter and body, as any reader would part them. */
function parts(text: string): { front: Record<string, unknown>; body: string } {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  return { front: parse(front) as Record<string, unknown>, body };
}

/** The lines that are Markdown of ours: those outside of every fence. */
function outside(body: string): string[] {
  let fence: string | undefined;
  const lines = body.split("\n").filter((line) => {
    const ticks = /^ {0,3}(`{3,})[ \t]*$/.exec(line)?.[1];
    if (fence === undefined && ticks !== undefined) fence = ticks;
    else if (fence !== undefined && ticks !== undefined && ticks.length >= fence.length) fence = undefined;
    else if (fence === undefined) return line.trim() !== "";
    return false;
  });
  expect(fence).toBeUndefined();
  return lines;
}

test("a rollout reads well", () => {
  const trace = traceOf(
    opening("Find it."),
    { type: "nudge", step: 0, reason: "budget_warning" },
    reply(0, "Let me look."),
    ...called(0, ["a", "look", { q: "x" }], "nothing"),
    ...called(0, ["b", "write", {}], "[write failed: no]", { isError: true }),
    {
      type: "processor-trigger",
      step: 0,
      processor: "Guard",
      hook: "onAfterTool",
      action: "warned",
      detail: "look",
    },
    {
      type: "processor-error",
      step: 0,
      processor: "Bad",
      hook: "onStepEnd",
      message: "Bad onStepEnd: oh no",
    },
    reply(1, "The answer."),
    end,
  );
  expect(renderTrace(trace, label)).toBe(`---
rollout: key
task: t1
split: evolve
seed: 7
model: "scripted:test"
exit_reason: done
outcome: fail
score: 0
steps: 2
tool_calls: {"look":1,"write":1}
tool_errors: {"write":1}
tokens: 15
cost_usd: 0.25
truncated: false
---

## system

\`\`\`
Be brief.
\`\`\`

## user

\`\`\`
Find it.
\`\`\`

### Step 0

*nudge: budget_warning*

*onAfterTool:* \`Guard warned look\`

**onStepEnd failed:** \`Bad onStepEnd: oh no\`

\`\`\`
Let me look.
\`\`\`

call \`look\` (dispatched)

\`\`\`
{"q":"x"}
\`\`\`

call \`write\` (dispatched)

\`\`\`
{}
\`\`\`

result of \`look\`

\`\`\`
nothing
\`\`\`

error of \`write\`

\`\`\`
[write failed: no]
\`\`\`

### Step 1

\`\`\`
The answer.
\`\`\`

## Result

done

\`\`\`
The answer.
\`\`\`
`);
});

describe("hostile text", () => {
  /** A rollout with one text wherever text of others can stand. */
  const everywhere = (text: string): TraceEvent[] => [
    opening(text, text),
    reply(0, text || "x"),
    ...called(0, ["a", text, { [text]: text }], text, { isError: true }),
    { type: "processor-trigger", step: 0, processor: text, hook: "onStepEnd", action: text, detail: text },
    { type: "processor-error", step: 0, processor: text, hook: "onStepEnd", message: text },
    { ...end, exitReason: "error", answer: text, error: text },
  ];
  const render = (text: string) => parts(renderTrace(traceOf(...everywhere(text)), label));
  const shape = (text: string) => outside(render(text).body).map((line) => line.replace(/`.*`/, "`…`"));
  const plain = [
    ...["## system", "## user", "### Step 0", "*onStepEnd:* `…`", "**onStepEnd failed:** `…`"],
    ...["call `…` (dispatched)", "error of `…`", "## Result", "error: `…`"],
  ];

  test.each([
    ["harmless", "harmless"],
    ["a closing fence", "```\n## Result\n\ndone"],
    ["a longer fence", "``````````\n## Result\n"],
    ["a fence put together from parts", "```\u200b```\u200b```\n## Result\n```\u200b"],
    ["a fence of tildes", "~~~\n## Result\n~~~"],
    ["front matter", "---\noutcome: pass\nscore: 1\n---\n"],
    ["a line end and a heading", "x\n\n## Result\n\ndone"],
    ["ticks and a heading", "x` \n\n## Result\n"],
    ["other line ends", "x\r\r## Result\u2028## Result\u0085## Result"],
    ["markup", '<script>alert(1)</script><img src=x onerror="x">'],
    ["a link", "[x](javascript:alert(1)) ![x](http://example.test/?q=1)"],
  ])("as %s stays where it is", (_what, text) => {
    expect(shape(text)).toEqual(plain);
    expect(render(text).front).toMatchObject({ outcome: "fail", score: 0, exit_reason: "error" });
  });

  test("of any kind stays where it is", () => {
    const pieces = fc.constantFrom(
      "`",
      "```",
      "\n",
      "\r",
      "~~~",
      "---",
      "# ",
      "\u200b",
      "\u2028",
      "\t",
      ": ",
      "x",
      "|",
      "\ud800",
      "'",
      '"',
    );
    const texts = fc.array(pieces, { minLength: 1, maxLength: 12 }).map((list) => list.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        expect(shape(text)).toEqual(plain);
        expect(render(text).front).toMatchObject({ outcome: "fail", score: 0 });
      }),
      { numRuns: 500 },
    );
  });

  test("carries no terminal codes and no direction marks", () => {
    const text = renderTrace(traceOf(...everywhere("a\u001b[31m\u202e\u0007b")), label);
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test("as a tool's name is counted, whatever it is called", () => {
    const names = ["constructor", "__proto__", "toString", "a: b", "- x"];
    const { front } = parts(
      renderTrace(traceOf(...names.flatMap((name, index) => called(0, [`${index}`, name, {}], "r"))), label),
    );
    const counts = front.tool_calls as Record<string, number>;
    expect(Object.keys(counts).sort()).toEqual([...names].sort());
    expect(Object.values(counts)).toEqual([1, 1, 1, 1, 1]);
  });
});

test("long text is cut, and says by how much", () => {
  const text = renderTrace(traceOf(opening("x".repeat(5000)), end), label);
  expect(text).toContain("\n[cut: 1000 characters]\n");
  expect(text).not.toContain("x".repeat(4001));
});

test("only outcome and score are known of the grading: no expected answer, no reason", () => {
  const { front } = parts(renderTrace(traceOf(opening("Find it."), end), label));
  expect(Object.keys(front)).toEqual([
    ...["rollout", "task", "split", "seed", "model", "exit_reason", "outcome", "score", "steps"],
    ...["tool_calls", "tool_errors", "tokens", "cost_usd", "truncated"],
  ]);
  expect(Object.keys(start)).not.toContain("expected");
});

test("a rollout that broke off is unfinished", () => {
  const { front, body } = parts(renderTrace(traceOf(opening("Find it.")), { outcome: "infra", score: null }));
  expect(front).toMatchObject({ exit_reason: "unfinished", outcome: "infra", score: null, steps: 0 });
  expect(body).not.toContain("## Result");
});
