import { describe, expect, test } from "vitest";
import { checkDryFire } from "../../src/checks/dry-fire.ts";
import { freeze } from "../../src/checks/freeze.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { type Desk, openDesk, processorFile, toolFile, verdictOf } from "./desk.ts";
import { subjectOf } from "./papers.ts";

const desk: Desk = await openDesk();

/** A line of each failing task that is its own. */
const inputs = desk.context.records
  .filter(({ scored }) => scored.outcome === "fail")
  .map(({ facts }) => /^.*;.*$/m.exec(facts.taskHead)?.[0] ?? "");

const spec = `# TOOL_SPEC: probe

## Capability name

Does what a probe does, for a test.

## Class, not single task

Messages to the library, all of them.

## Inputs the agent will pass

${inputs.map((text) => `- \`${text}\``).join("\n")}

## Output shape the caller needs

A line of text, whatever the input is.

## Failure modes

- nothing to say: \`[probe failed: nothing to say]\`
`;

async function fireTool(body: string, input?: string) {
  const { file, text, reference } = toolFile(body, input ? { input } : {});
  const similar = "file://$GENERATION/tools/similar-records.ts::similar_records";
  const dir = desk.candidate({
    config: { tools: { builtin: ["Read"], custom: [similar, reference] } },
    files: { [file]: text, "_meta_scratch/TOOL_SPEC.md": spec },
    papers: { lever: "tool", signature: { tool: "probe" } },
  });
  return verdictOf(await desk.check(dir));
}

async function fireProcessor(members: string, options: Record<string, unknown> = {}) {
  const { file, text, entry } = processorFile(members);
  const dir = desk.candidate({
    config: { processors: [{ ...entry, ...options }] },
    files: { [file]: text },
    papers: { lever: "processor", signature: { processor: "Probe" } },
  });
  return verdictOf(await desk.check(dir));
}

describe("a tool", () => {
  test("that answers whatever it is given passes", async () => {
    expect(await fireTool('return "heard " + input.text.length;')).toEqual({ failed: undefined, says: "" });
  });

  test.each([
    [
      "a whole number",
      "{ text: z.string(), k: z.number().int().describe('how many') }",
      "return await context.rank('answered.jsonl', input.text || 'x', Math.min(100, Math.max(1, input.k)))",
    ],
    ["a short text", "{ text: z.string().max(20) }", "return 'heard ' + input.text"],
    [
      "one of some words, or null",
      "{ how: z.enum(['a', 'b']), x: z.string().nullable(), y: z.literal('z') }",
      "return [input.how, input.x, input.y].join()",
    ],
  ])("that wants %s gets it", async (_name, input, body) => {
    expect(await fireTool(body, input)).toEqual({ failed: undefined, says: "" });
  });

  test("that fails only for some inputs, and says so in words of its own, passes", async () => {
    const body =
      'if (input.text.length > 5000) return "[probe failed: search returned nothing]"; return "fine";';
    expect(await fireTool(body)).toEqual({ failed: undefined, says: "" });
  });

  test.each<[string, string, RegExp]>([
    ["loops for ever", "for (;;) {}", /timeout after/],
    [
      "loops for ever on a hostile input only",
      "if (input.text.length > 5000) for (;;) {} return 'fine'",
      /timeout after/,
    ],
    ["never settles", "await new Promise(() => {})", /its worker died|timeout/],
    [
      "takes all memory",
      "const all = []; for (;;) all.push(new Array(1e6).fill(input.text))",
      /its worker died|timeout/,
    ],
    ["always throws", "throw new Error('not today')", /fails on every input of its spec.*not today/],
    ["always says that it failed", "return '[probe failed: not today]'", /fails on every input of its spec/],
    ["returns an empty string", "return ''", /returns nothing for some inputs/],
    ["returns blanks", "return ' \\n'", /returns nothing for some inputs/],
    [
      "returns nothing for an empty text",
      "if (input.text === '') return undefined; return 'fine'",
      /returns nothing/,
    ],
    ["leaves a timer", "setTimeout(() => {}, 60000); return 'fine'", /left \d+ timers? running/],
    ["leaves a rejection", "Promise.reject(new Error('later')); return 'fine'", /nobody handled it/],
  ])("that %s is refused", async (_name, body, says) => {
    const verdict = await fireTool(body);
    expect(verdict.failed).toBe("dry-fire");
    expect(verdict.says).toMatch(says);
  });
});

describe("a processor", () => {
  test("is fired on every hook, with events like those of a rollout", async () => {
    // Whatever is missing or out of order throws.
    const members = `
      step = -1;
      seen = [];
      async *onTaskStart(event) { if (!event.task || !event.tools) throw new Error("task"); yield event; }
      async *onStepStart(event) { if (event.step !== this.step + 1) throw new Error("step " + event.step); this.step = event.step; yield event; }
      async *onBeforeModel(event) { if (event.step !== this.step || event.messages.length < 2) throw new Error("before " + event.step); yield { type: "trigger", action: "saw" }; yield event; }
      async *onAfterModel(event) { if (event.step !== this.step) throw new Error("after"); this.seen.push(...event.toolCalls.map((call) => call.id)); yield event; }
      async *onBeforeTool(event) { if (!this.seen.includes(event.call.id)) throw new Error("tool"); yield event; }
      async *onAfterTool(event) { if (!this.seen.includes(event.call.id) || event.result === "") throw new Error("result"); yield event; }
      async *onStepEnd(event) { if (event.step > this.step) throw new Error("end"); yield event; }
      async *onTaskEnd(event) { if (event.steps !== this.step + 1) throw new Error("task end " + event.steps); yield event; }`;
    const verdict = await fireProcessor(members);
    expect(verdict.failed).toBe("replay"); // it changes nothing, which is for the replay to say
  });

  test.each<[string, string, RegExp]>([
    [
      "reads a field that is not there",
      "async *onBeforeModel(event) { if (event.message.content) yield event; }",
      /onBeforeModel/,
    ],
    [
      "yields a field that is not there",
      "async *onBeforeModel(event) { yield { ...event, messages: event.message }; }",
      /messages/,
    ],
    [
      "throws on error results, of which no record has one",
      "async *onAfterTool(event) { if (event.isError) throw new Error('no errors please'); yield event; }",
      /no errors please/,
    ],
    [
      "throws on cut-off replies",
      "async *onAfterModel(event) { if (event.finishReason === 'length') throw new Error('too long'); yield event; }",
      /too long/,
    ],
    ["throws at the end", "async *onTaskEnd(event) { throw new Error('at the end'); }", /at the end/],
    ["is no generator", "onBeforeModel(event) { return event; }", /generator/],
    ["loops for ever", "async *onStepStart(event) { for (;;) {} }", /timeout after/],
    ["yields two events", "async *onStepEnd(event) { yield event; yield event; }", /more than one event/],
    [
      "leaves a timer",
      "async *onStepStart(event) { setTimeout(() => {}, 60000); yield event; }",
      /left \d+ timers? running/,
    ],
    [
      "drops the system prompt",
      "async *onBeforeModel(event) { yield { ...event, messages: event.messages.slice(1) }; }",
      /length_exceeded/,
    ],
    [
      "rewrites the past at a late step",
      "async *onStepStart(event) { yield { ...event, messages: event.messages.length < 4 ? event.messages : event.messages.map((message) => message.role === 'user' ? { ...message, content: 'x' } : message) }; }",
      /history_wiped/,
    ],
    ["empties a result", "async *onAfterTool(event) { yield { ...event, result: '' }; }", /result/],
  ])("that %s is refused", async (_name, members, says) => {
    const verdict = await fireProcessor(members);
    expect(verdict.failed).toBe("dry-fire");
    expect(verdict.says).toMatch(says);
  });

  test("of the champion's is fired again with other options", async () => {
    const { file, text, entry } = processorFile(`
      static override options = z.object({ size: z.number().default(1) });
      async *onTaskEnd(event) { if (this.options.size > 5) throw new Error("too big"); yield event; }`);
    const make = (size: number) =>
      desk.candidate({
        config: { processors: [{ ...entry, size }] },
        files: { [file]: text },
        papers: { lever: "config", signature: { knob: "processors.Probe.size" } },
      });
    const context = { ...desk.context, champion: loadHarness(make(2)) };
    const verdict = verdictOf(await desk.check(make(9), { context }));
    expect(verdict).toMatchObject({ failed: "dry-fire", says: expect.stringContaining("too big") });
  });

  test("is fired also where there is no record", async () => {
    const { file, text, entry } = processorFile("async *onStepEnd(event) { throw new Error('unseen'); }");
    const dir = desk.candidate({ config: { processors: [entry] }, files: { [file]: text } });
    const subject = subjectOf({ harness: loadHarness(dir), frozen: freeze(dir).frozen });
    const found = await checkDryFire(subject, { ...desk.context, records: [] });
    expect(found).toMatchObject([
      { file: "processors/probe.ts", message: expect.stringContaining("unseen") },
    ]);
  });
});
