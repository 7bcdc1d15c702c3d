import fc from "fast-check";
import { expect, test } from "vitest";
import type { HookEvents } from "../../src/agent/hooks.ts";
import type { ProcessorPart } from "../../src/agent/parts.ts";
import { hashOf } from "../../src/lib/hash.ts";
import type { ScriptedReply } from "../../src/model/scripted.ts";
import { dispositions, type TraceEvent, traceEventSchema } from "../../src/trace/events.ts";
import type { Message, ToolCall } from "../../src/trace/messages.ts";
import { rebuildRequests } from "../../src/trace/rebuild.ts";
import { echoTool, historyOf, ofType, processor, runSetup, type Setup } from "../support/agent.ts";

const tools = [
  echoTool("good"),
  echoTool("once"),
  echoTool("refused"),
  echoTool("throws", () => {
    throw new Error("no luck");
  }),
  echoTool("silent", () => ""),
  echoTool("nothing", () => undefined),
];
const names = [...tools.map(({ schema }) => schema.name), "unknown", "", "__proto__", "constructor"];
const ids = ["", "a", "b", "call-0-0", "call-0-1", "call-1-0"];

const someCall = fc.record({
  id: fc.constantFrom(...ids),
  name: fc.constantFrom(...names),
  input: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), {
    maxKeys: 2,
  }) as fc.Arbitrary<Record<string, unknown>>,
});
const someReply: fc.Arbitrary<ScriptedReply> = fc.record({
  content: fc.constantFrom("", " ", "text", "``` text", "\ud800 torn"),
  toolCalls: fc.oneof(
    { weight: 4, arbitrary: fc.array(someCall, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant<ToolCall[]>([]) },
  ),
  finishReason: fc.constantFrom("stop", "tool_calls", "tool_calls", "length"),
});

/** What a processor does on its n-th call of a hook: mostly nothing of note, at times something bad. */
const someMoves = fc.array(
  fc.constantFrom("pass", "pass", "pass", "change", "change", "block", "throw", "garbage", "trigger"),
  { minLength: 1, maxLength: 6 },
);

function restless(name: string, moves: readonly string[]): ProcessorPart {
  let turn = 0;
  const hook = (change: (event: never) => unknown) =>
    function* (event: unknown) {
      const move = moves[turn++ % moves.length];
      if (move === "throw") throw new Error("oh no");
      if (move === "garbage") yield 42;
      if (move === "trigger") yield { type: "trigger", action: "looked" };
      if (move === "change") yield change(event as never);
      if (move === "pass" || move === "trigger") yield event;
    };
  return processor(name, {
    onTaskStart: hook((event: HookEvents["onTaskStart"]) => ({
      ...event,
      systemPrompt: `${event.systemPrompt}!`,
    })),
    onStepStart: hook((event: HookEvents["onStepStart"]) => ({
      ...event,
      messages: shortened(event.messages),
    })),
    onBeforeModel: hook((event: HookEvents["onBeforeModel"]) => ({
      ...event,
      messages: hinted(event.messages),
    })),
    onAfterModel: hook((event: HookEvents["onAfterModel"]) => ({
      ...event,
      content: `${event.content}.`,
      toolCalls: [...event.toolCalls, ...event.toolCalls.slice(0, 1)],
    })),
    onBeforeTool: hook((event: HookEvents["onBeforeTool"]) => ({
      ...event,
      call: { ...event.call, input: { changed: true } },
    })),
    onAfterTool: hook((event: HookEvents["onAfterTool"]) => ({ ...event, result: `${event.result}!` })),
    onStepEnd: hook((event) => event),
    onTaskEnd: hook((event) => event),
  });
}

/** The oldest tool result cut down: lawful unless it is of the newest step. */
function shortened(messages: readonly Message[]): readonly Message[] {
  const index = messages.findIndex(({ role, content }) => role === "tool" && content !== "[cut]");
  const message = messages[index];
  return message ? messages.with(index, { ...message, content: "[cut]" }) : messages;
}

/** A hint at the tail: lawful once a chain where there is no user message yet. */
function hinted(messages: readonly Message[]): readonly Message[] {
  const tail = messages.at(-1);
  if (tail?.role !== "user") return [...messages, { role: "user", content: "Hint." }];
  return messages.with(-1, { role: "user", content: `${tail.content} Hint.` });
}

const someSetup: fc.Arbitrary<Setup> = fc
  .record({
    replies: fc.array(someReply, { minLength: 1, maxLength: 5 }),
    moves: fc.array(someMoves, { maxLength: 2 }),
    policy: fc.constantFrom("fail-task" as const, "skip" as const),
    guided: fc.boolean(),
    max_steps: fc.integer({ min: 1, max: 6 }),
    narrowed: fc.boolean(),
    max_tokens: fc.constantFrom(60, 200_000),
  })
  .map(({ replies, moves, policy, guided, max_steps, narrowed, max_tokens }) => {
    let turn = 0;
    return {
      replies: () => replies[turn++ % replies.length] as ScriptedReply,
      tools,
      processors: moves.map((list, index) => restless(`P${index}`, list)),
      policy,
      guided,
      limits: { max_steps, max_tokens, exclusive: ["once"] },
      sampling: { temperature: 0.5 },
      ...(narrowed && { allowlist: names.filter((name) => name !== "refused") }),
    };
  });

test("every call has exactly one result with its id, in call order, whatever happens", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(someSetup, async (setup) => {
      const { events, result } = await runSetup(setup);
      const calls = ofType(events, "tool-call");
      for (const { disposition } of calls) seen.add(disposition);
      const results = ofType(events, "tool-result");
      expect(results.map(({ callId, name }) => [callId, name])).toEqual(
        calls.map(({ call: { id, name } }) => [id, name]),
      );
      expect(results.every((event) => event.result !== "")).toBe(true);
      expect(new Set(calls.map(({ call: { id } }) => id)).size).toBe(calls.length);
      expect(result.dispatched).toEqual(
        calls.flatMap(({ call: { name }, disposition }) => (disposition === "dispatched" ? [name] : [])),
      );

      const history = historyOf(events);
      const called = history.flatMap((message) =>
        message.role === "assistant" ? (message.toolCalls ?? []) : [],
      );
      expect(called.map(({ id }) => id)).toEqual(calls.map(({ call: { id } }) => id));
      for (const [index, message] of history.entries()) {
        if (message.role !== "assistant") continue;
        const wanted = (message.toolCalls ?? []).map(({ id }) => id);
        const following = history.slice(index + 1, index + 1 + wanted.length);
        expect(following.map((each) => (each.role === "tool" ? each.toolCallId : each.role))).toEqual(wanted);
      }
      expect(history.filter(({ role }) => role === "tool")).toHaveLength(calls.length);
    }),
    // A seed of its own: the next line asks that these runs met everything.
    { numRuns: 400, seed: 1 },
  );
  expect([...seen].sort()).toEqual([...dispositions].sort());
});

test("every request can be rebuilt from the events, byte for byte, also when they come from the disk", async () => {
  await fc.assert(
    fc.asyncProperty(someSetup, async (setup) => {
      const { events, requests } = await runSetup(setup);
      const stored = events.map(
        (event): TraceEvent => traceEventSchema.parse(JSON.parse(JSON.stringify(event))),
      );
      for (const list of [events, stored]) {
        const rebuilt = rebuildRequests(list);
        expect(rebuilt.map(({ digest }) => digest)).toEqual(
          requests.map(({ messages, tools: offered, sampling }) =>
            hashOf({ messages, tools: offered, sampling }),
          ),
        );
        for (const { digest, messages, tools: offered, sampling } of rebuilt)
          expect(hashOf({ messages, tools: offered, sampling })).toBe(digest);
      }
    }),
    { numRuns: 400 },
  );
});
