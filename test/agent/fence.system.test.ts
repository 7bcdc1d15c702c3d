import { afterAll, describe, expect, test } from "vitest";
import { orderProcessors } from "../../src/agent/harness.ts";
import { createFence } from "../../src/sandbox/fence.ts";
import { rebuildRequests } from "../../src/trace/rebuild.ts";
import { call, calling, echoTool, ofType, runSetup, type Setup } from "../support/agent.ts";
import { processorInProcess } from "../support/in-process.ts";
import { authored } from "../support/parts.ts";

const fence = await createFence({ weakest: "weak", maxWorkers: 2 });
afterAll(() => fence.close());

/** One part for each of `classes`: TypeScript of a class body by its name. */
const parts = (classes: Record<string, string>, options: Record<string, unknown> = {}) =>
  Object.entries(classes).map(([name, members]) =>
    authored(
      "processor",
      `import { Processor } from "lorimer/processors";
       import { z } from "zod";
       export class ${name} extends Processor { ${members} }`,
      name,
      options,
    ),
  );

const setup: Setup = {
  replies: [
    { content: "Let me see.", toolCalls: [call("echo", { a: 1, zero: -0 }, "x"), call("fails", {}, "x")] },
    "",
    calling(call("echo", { a: 1 }), call("echo", { a: 1 }), call("unknown")),
    { content: "Half an ans", finishReason: "length" },
    calling(call("echo", { größe: "日本 \ud800" })),
    "The answer.",
  ],
  tools: [
    echoTool(),
    echoTool("fails", () => {
      throw new Error(`no luck ${"x".repeat(300)}`);
    }),
  ],
  guided: true,
  sampling: { temperature: 0 },
};

const all = {
  Watcher: `
    static order = 10;
    steps = 0;
    async *onTaskStart(event) { yield { ...event, systemPrompt: event.systemPrompt + " Watched." }; }
    async *onStepStart(event) { this.steps++; yield event; yield { type: "trigger", action: "step", detail: String(this.steps) }; }
    async *onStepEnd(event) { yield event; }
    async *onTaskEnd(event) { yield event; yield { type: "trigger", action: "ended", detail: event.exitReason }; }`,
  Forgetter: `
    async *onStepStart(event) {
      const messages = event.messages.map((message, index) =>
        message.role === "tool" && index < event.messages.length - 4 ? { ...message, content: "[old]" } : message);
      yield { ...event, messages };
    }`,
  Hinter: `
    static order = 30;
    async *onBeforeModel(event) {
      const tail = event.messages.at(-1);
      const messages = tail.role === "user"
        ? [...event.messages.slice(0, -1), { ...tail, content: tail.content + " (step " + event.step + ")" }]
        : [...event.messages, { role: "user", content: "Go on." }];
      yield { ...event, messages };
    }`,
  Guard: `
    static order = 15;
    seen = new Set();
    async *onBeforeTool(event) {
      const key = JSON.stringify(event.call.input);
      if (!this.seen.has(key)) yield event;
      this.seen.add(key);
    }
    async *onAfterTool(event) {
      yield { ...event, result: event.isError ? event.result + " [tail] " + event.result.slice(-20) : event.result };
    }`,
};

describe("the same classes in the fence and in this process", () => {
  test("give the same trajectory, event by event", async () => {
    const opened = await fence.loader.open(parts(all));
    const fenced = await runSetup({ ...setup, processors: orderProcessors(opened.processors) });
    expect(await opened.close()).toEqual([]);
    const plain = await runSetup({
      ...setup,
      processors: orderProcessors(parts(all).map(processorInProcess)),
    });
    expect(fenced.events).toEqual(plain.events);
    expect(fenced.result).toEqual(plain.result);
    expect(fenced.result).toMatchObject({ exitReason: "done", answer: "The answer." });
    expect(ofType(fenced.events, "processor-error")).toEqual([]);
    const did = new Set(
      ofType(fenced.events, "processor-trigger").map(({ processor, action }) => `${processor} ${action}`),
    );
    expect([...did].sort()).toEqual([
      ...["Forgetter changed", "Guard blocked", "Guard changed", "Hinter changed"],
      ...["Watcher changed", "Watcher ended", "Watcher step"],
    ]);
    expect(rebuildRequests(fenced.events).map(({ messages }) => messages)).toEqual(
      fenced.requests.map(({ messages }) => messages),
    );
  });

  test.each([
    ["throws", `async *onBeforeModel() { throw new TypeError("oh no"); }`, /oh no/],
    ["yields garbage", `async *onBeforeModel() { yield 42; }`, /neither its event nor a trigger/],
    [
      "breaks the contract",
      `async *onBeforeModel(event) { yield { ...event, messages: [] }; }`,
      /empty_messages/,
    ],
    [
      "changes what it may not",
      `async *onAfterTool(event) { yield { ...event, messages: [] }; }`,
      /changed the messages/,
    ],
    ["yields two events", `async *onStepEnd(event) { yield event; yield event; }`, /more than one event/],
  ])("a class that %s fails alike", async (_what, members, message) => {
    const opened = await fence.loader.open(parts({ Probe: members }));
    const fenced = await runSetup({ ...setup, processors: opened.processors });
    await opened.close();
    const plain = await runSetup({ ...setup, processors: parts({ Probe: members }).map(processorInProcess) });
    for (const { result, events } of [fenced, plain]) {
      expect(result).toMatchObject({ exitReason: "error", error: expect.stringMatching(message) });
      expect(ofType(events, "processor-error")).toHaveLength(1);
    }
    const placeOf = ({ events }: typeof plain) =>
      ofType(events, "processor-error").map(({ step, hook, violation }) => ({ step, hook, violation }));
    expect(placeOf(fenced)).toEqual(placeOf(plain));
  });

  test("a class that hangs is a processor's fault, and the rollout ends", async () => {
    const short = await createFence({ weakest: "weak", maxWorkers: 1, callTimeoutMs: 300 });
    const opened = await short.loader.open(parts({ Probe: "async *onAfterModel() { for (;;); }" }));
    const { result, events } = await runSetup({ ...setup, processors: opened.processors });
    expect(result).toMatchObject({ exitReason: "error", error: expect.stringContaining("timeout") });
    expect(ofType(events, "processor-error")).toMatchObject([{ step: 0, hook: "onAfterModel" }]);
    expect(await opened.close()).toHaveLength(1);
    await short.close();
  });
});
