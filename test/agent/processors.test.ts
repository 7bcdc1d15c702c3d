import { describe, expect, test } from "vitest";
import type { HookEvents, HookName } from "../../src/agent/hooks.ts";
import { hookNames } from "../../src/agent/hooks.ts";
import type { ProcessorPart } from "../../src/agent/parts.ts";
import { LorimerError } from "../../src/lib/errors.ts";
import type { Message } from "../../src/trace/messages.ts";
import { call, calling, echoTool, historyOf, ofType, processor, runSetup } from "../support/agent.ts";

const act = calling(call("echo", { a: 1 }, "x"));
const user = (content: string): Message => ({ role: "user", content });
const trigger = { type: "trigger", action: "did it", detail: "so" };

/** One processor with one hook, on a rollout of one call and an answer. */
const runWith = (hooks: Parameters<typeof processor>[1], policy: "fail-task" | "skip" = "fail-task") =>
  runSetup({ replies: [act, "The answer."], processors: [processor("Probe", hooks)], policy });

const triggersOf = ({ events }: Awaited<ReturnType<typeof runSetup>>) =>
  ofType(events, "processor-trigger").map(({ step, hook, action, detail }) => [step, hook, action, detail]);
const errorsOf = ({ events }: Awaited<ReturnType<typeof runSetup>>) =>
  ofType(events, "processor-error").map(({ step, hook, violation }) => [step, hook, violation]);

test("every hook is called, in order, also in the step that ends the rollout", async () => {
  const called: string[] = [];
  const hooks = Object.fromEntries(
    hookNames.map((hook) => [
      hook,
      function* (event: unknown) {
        called.push(hook);
        yield event;
      },
    ]),
  );
  const { result, events } = await runWith(hooks as Parameters<typeof processor>[1]);
  expect(result.exitReason).toBe("done");
  expect(called).toEqual([
    "onTaskStart",
    ...["onStepStart", "onBeforeModel", "onAfterModel", "onBeforeTool", "onAfterTool", "onStepEnd"],
    ...["onStepStart", "onBeforeModel", "onAfterModel", "onStepEnd"],
    "onTaskEnd",
  ]);
  expect(ofType(events, "processor-trigger")).toEqual([]);
});

describe("a hook that yields", () => {
  test("its event passes it on, and nothing is recorded", async () => {
    const ran = await runWith({
      *onBeforeModel(event) {
        yield event;
      },
    });
    expect(triggersOf(ran)).toEqual([]);
    expect(ran.result.answer).toBe("The answer.");
  });

  test("a replaced event changes what follows, and that is recorded", async () => {
    const ran = await runWith({
      *onBeforeTool(event) {
        yield { ...event, call: { ...event.call, input: { a: 2 } } };
      },
    });
    expect(triggersOf(ran)).toEqual([[0, "onBeforeTool", "changed", ""]]);
    expect(ran.requests[1]?.messages.at(-1)).toMatchObject({ toolCallId: "x", content: 'echo: {"a":2}' });
    expect(ofType(ran.events, "tool-call")[0]?.call.input).toEqual({ a: 2 });
  });

  test("a trigger beside it is recorded as it says", async () => {
    const ran = await runWith({
      *onAfterTool(event) {
        yield { ...event, result: `${event.result}!` };
        yield trigger;
      },
    });
    expect(triggersOf(ran)).toEqual([[0, "onAfterTool", "did it", "so"]]);
    expect(ofType(ran.events, "tool-result")[0]).toMatchObject({
      result: 'echo: {"a":1}!',
      raw: 'echo: {"a":1}',
    });
  });

  test("nothing before a tool keeps it from running, with a linked result", async () => {
    const ran = await runWith({ *onBeforeTool() {} });
    expect(triggersOf(ran)).toEqual([[0, "onBeforeTool", "blocked", ""]]);
    expect(ran.result.dispatched).toEqual([]);
    expect(ofType(ran.events, "tool-call")[0]?.disposition).toBe("blocked");
    expect(ran.requests[1]?.messages.at(-1)).toEqual({
      role: "tool",
      toolCallId: "x",
      name: "echo",
      content: "[echo failed: a processor blocked it]",
      isError: true,
    });
  });

  test("nothing after a tool withholds its result, and says that it ran", async () => {
    const ran = await runWith({ *onAfterTool() {} });
    expect(ran.result.dispatched).toEqual(["echo"]);
    expect(ofType(ran.events, "tool-result")[0]).toMatchObject({
      result: "[echo: it ran, and a processor withheld its result]",
      raw: 'echo: {"a":1}',
      isError: false,
    });
  });

  test("nothing after the model drops the turn", async () => {
    const ran = await runWith({
      *onAfterModel(event) {
        if (event.step > 0) yield event;
      },
    });
    expect(ran.result).toMatchObject({ answer: "The answer.", steps: 2, dispatched: [] });
    expect(historyOf(ran.events).map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
    expect(ran.requests[1]?.messages).toEqual(ran.requests[0]?.messages);
  });

  test.each(["onStepStart", "onBeforeModel"] as const)(
    "nothing on %s drops the step: no request is made, and none is counted",
    async (hook) => {
      const ran = await runWith({
        *[hook](event: HookEvents[typeof hook]) {
          if (event.step > 0) yield event;
        },
      });
      expect(ran.requests).toHaveLength(2);
      expect(ran.result).toMatchObject({ exitReason: "done", steps: 2 });
      expect(triggersOf(ran)).toEqual([[0, hook, "blocked", ""]]);
      expect(ofType(ran.events, "model-request").map(({ step }) => step)).toEqual([1, 2]);
    },
  );

  test.each(["onTaskStart", "onStepEnd", "onTaskEnd"] as const)(
    "nothing on %s passes it on: there is nothing to block",
    async (hook) => {
      const called: string[] = [];
      const second = processor("Second", {
        *[hook](event: HookEvents[typeof hook]) {
          called.push(hook);
          yield event;
        },
      });
      const ran = await runSetup({
        replies: ["The answer."],
        processors: [processor("First", { *[hook]() {} }), second],
      });
      expect(called).toEqual([hook]);
      expect(ran.result).toMatchObject({ exitReason: "done", answer: "The answer." });
      expect(triggersOf(ran)).toEqual([]);
    },
  );

  test.each([
    ["two events", [{ type: "after-tool" }, { type: "after-tool" }]],
    ["another hook's event", [{ type: "step-end", step: 0, maxSteps: 8 }]],
    ["a number", [42]],
    ["null", [null]],
    ["a trigger without an action", [{ type: "trigger" }]],
    ["an event without its field", [{ type: "after-tool" }]],
    ["an empty result", [{ type: "after-tool", result: "" }]],
  ])("%s has failed", async (_what, values) => {
    const ran = await runWith({
      *onAfterTool() {
        yield* values;
      },
    });
    expect(ran.result.exitReason).toBe("error");
    expect(errorsOf(ran)).toEqual([[0, "onAfterTool", undefined]]);
  });
});

describe("what each hook may change", () => {
  test("the system prompt, on onTaskStart", async () => {
    const ran = await runWith({
      *onTaskStart(event) {
        yield { ...event, systemPrompt: `${event.systemPrompt} And kind.` };
      },
    });
    expect(ran.requests[0]?.messages[0]).toEqual({ role: "system", content: "Be brief. And kind." });
  });

  test("the history, on onStepStart: for good", async () => {
    const ran = await runWith({
      *onStepStart(event) {
        if (event.step === 0) yield { ...event, messages: [event.messages[0], user("Shorter.")] };
        else yield event;
      },
    });
    expect(ran.requests.map(({ messages }) => messages[1]?.content)).toEqual(["Shorter.", "Shorter."]);
  });

  test("the messages of one request, on onBeforeModel: not for good", async () => {
    const ran = await runWith({
      *onBeforeModel(event) {
        if (event.messages.at(-1)?.role === "user") yield event;
        else yield { ...event, messages: [...event.messages, user("Hint.")] };
      },
    });
    expect(ran.requests[1]?.messages.at(-1)).toEqual(user("Hint."));
    expect(historyOf(ran.events)).not.toContainEqual(user("Hint."));
  });

  test("content and calls, on onAfterModel; the calls get ids that are new", async () => {
    const ran = await runWith({
      *onAfterModel(event) {
        if (event.step > 0) yield { ...event, content: "Another answer." };
        else yield { ...event, toolCalls: [...event.toolCalls, ...event.toolCalls, call("echo", { b: 1 })] };
      },
    });
    expect(ran.result).toMatchObject({ answer: "Another answer.", dispatched: ["echo", "echo", "echo"] });
    const ids = ofType(ran.events, "tool-result").map(({ callId }) => callId);
    expect(ids).toEqual(["x", "call-0-1", "call-0-2"]);
    expect(ofType(ran.events, "model-reply")[0]?.toolCalls).toHaveLength(1);
  });

  test.each([
    ["onBeforeTool", { call: call("echo", {}, "other") }, "id or name"],
    ["onBeforeTool", { call: call("other", {}, "x") }, "id or name"],
    ["onAfterTool", { isError: true }, "changed isError, which onAfterTool may not"],
    ["onAfterModel", { step: 7 }, "changed step"],
    ["onBeforeModel", { tools: [] }, "changed tools"],
    ["onTaskStart", { task: "Another." }, "changed task"],
    ["onTaskEnd", { answer: "Another." }, "changed answer"],
    ["onStepEnd", { maxSteps: 100 }, "changed maxSteps"],
  ] as const)("nothing else: on %s, %j is a fault", async (hook, change, message) => {
    const ran = await runWith({
      *[hook as HookName](event: object) {
        yield { ...event, ...change };
      },
    });
    expect(ran.result).toMatchObject({ exitReason: "error", error: expect.stringContaining(message) });
  });

  test.each(hookNames.filter((hook) => hook !== "onStepStart" && hook !== "onBeforeModel"))(
    "messages only on onStepStart and onBeforeModel: %s breaks the contract",
    async (hook) => {
      const ran = await runWith({
        *[hook](event: object) {
          yield { ...event, messages: [] };
        },
      });
      expect(ran.result.exitReason).toBe("error");
      expect(errorsOf(ran)[0]).toEqual([expect.any(Number), hook, "window_out_of_scope"]);
    },
  );

  test("what it does to the event counts only when it yields it, and then it is checked", async () => {
    const inPlace: ProcessorPart = {
      ...processor("Probe", {}),
      hooks: new Set(["onStepStart"]),
      run: async (_hook, event) => {
        (event as { messages: Message[] }).messages.length = 0;
        return [event];
      },
    };
    const ran = await runSetup({ replies: ["The answer."], processors: [inPlace], policy: "skip" });
    expect(errorsOf(ran)).toEqual([[0, "onStepStart", "empty_messages"]]);
    expect(ran.requests[0]?.messages).toHaveLength(2);
  });
});

describe("the message contract in a rollout", () => {
  const messagesHook = (
    hook: "onStepStart" | "onBeforeModel",
    change: (messages: readonly Message[]) => unknown,
  ) => ({
    *[hook](event: HookEvents[typeof hook]) {
      if (event.step === 1) yield { ...event, messages: change(event.messages) };
      else yield event;
    },
  });

  test.each([
    ["onBeforeModel", "empty_messages", () => []],
    ["onBeforeModel", "length_exceeded", (all: readonly Message[]) => all.slice(1)],
    ["onBeforeModel", "length_exceeded", (all: readonly Message[]) => [...all, user("a"), user("b")]],
    [
      "onBeforeModel",
      "forbidden_role_mutation",
      (all: readonly Message[]) => [...all, { role: "assistant", content: "" }],
    ],
    ["onBeforeModel", "window_out_of_scope", (all: readonly Message[]) => all.with(1, user("x"))],
    ["onStepStart", "empty_messages", () => []],
    ["onStepStart", "system_mutated", (all: readonly Message[]) => all.slice(1)],
    ["onStepStart", "last_msg_only_mutated", (all: readonly Message[]) => [...all, user("x")]],
    [
      "onStepStart",
      "cross_tool_mutation",
      (all: readonly Message[]) => all.with(2, { role: "assistant", content: "" }),
    ],
    ["onStepStart", "history_wiped", (all: readonly Message[]) => all.with(1, user("x"))],
    ["onStepStart", "invariant_track_length", (all: readonly Message[]) => all.toSpliced(1, 0, user("x"))],
    [
      "onStepStart",
      "invariant_system_count",
      (all: readonly Message[]) => all.toSpliced(1, 0, { role: "system", content: "" }),
    ],
  ] as const)("on %s: %s", async (hook, violation, change) => {
    const skipped = await runWith(messagesHook(hook, change), "skip");
    expect(errorsOf(skipped)).toEqual([[1, hook, violation]]);
    expect(skipped.result).toMatchObject({ exitReason: "done", answer: "The answer." });
    const failed = await runWith(messagesHook(hook, change), "fail-task");
    expect(errorsOf(failed)).toEqual([[1, hook, violation]]);
    expect(failed.result).toMatchObject({ exitReason: "error", error: expect.stringContaining(violation) });
  });

  test.each([
    ["invariant_role_mismatch", (all: readonly Message[]) => all.with(2, user("was mine"))],
    [
      "invariant_tool_id_mismatch",
      (all: readonly Message[]) =>
        all
          .with(2, { role: "assistant", content: "", toolCalls: [call("echo", {}, "z")] })
          .with(3, { role: "tool", toolCallId: "z", name: "echo", content: "" }),
    ],
  ] as const)("on onStepStart, in an older step: %s", async (violation, change) => {
    const replies =
      violation === "invariant_role_mismatch"
        ? ["", act, "The answer."]
        : [act, calling(call("echo", {}, "y")), "The answer."];
    const hooks = {
      *onStepStart(event: HookEvents["onStepStart"]) {
        if (event.step === 2) yield { ...event, messages: change(event.messages) };
        else yield event;
      },
    };
    const ran = await runSetup({
      replies,
      guided: true,
      processors: [processor("Probe", hooks)],
      policy: "skip",
    });
    expect(errorsOf(ran)).toEqual([[2, "onStepStart", violation]]);
  });

  test("on onStepStart, without a system message: invariant_system_position", async () => {
    const hooks = {
      *onStepStart(event: HookEvents["onStepStart"]) {
        if (event.step === 1)
          yield { ...event, messages: event.messages.toSpliced(1, 0, { role: "system", content: "x" }) };
        else yield event;
      },
    };
    const ran = await runSetup({
      replies: [act, "The answer."],
      systemPrompt: "",
      processors: [processor("Probe", hooks)],
      policy: "skip",
    });
    expect(errorsOf(ran)).toEqual([[1, "onStepStart", "invariant_system_position"]]);
  });

  test("a chain may add one message to a request, and the second processor is to blame", async () => {
    const adder = (name: string) =>
      processor(name, {
        *onBeforeModel(event) {
          yield { ...event, messages: [...event.messages, user(name)] };
        },
      });
    const ran = await runSetup({
      replies: [act, "The answer."],
      processors: [adder("First"), adder("Second")],
      policy: "skip",
    });
    expect(ofType(ran.events, "processor-error").map(({ processor: name, step }) => [name, step])).toEqual([
      ["First", 0],
      ["Second", 0],
      ["Second", 1],
    ]);
    expect(ran.requests[1]?.messages.at(-1)).toEqual(user("First"));
  });

  test("a rewrite of a tail user message is lawful in both hooks", async () => {
    const louder = <Event extends { messages: readonly Message[] }>(event: Event) => {
      const tail = event.messages.at(-1);
      if (tail?.role !== "user") return event;
      return { ...event, messages: event.messages.with(-1, user(`${tail.content}!`)) };
    };
    const ran = await runWith({
      *onStepStart(event) {
        yield louder(event);
      },
      *onBeforeModel(event) {
        yield louder(event);
      },
    });
    expect(errorsOf(ran)).toEqual([]);
    expect(ran.requests.map(({ messages }) => messages[1]?.content)).toEqual(["The task.!!", "The task.!"]);
  });
});

describe("a processor that throws", () => {
  const broken = (hook: HookName, atStep = 0) =>
    processor("Broken", {
      *[hook](event: { step?: number }) {
        if ((event.step ?? atStep) === atStep) throw new Error("oh no");
        yield event;
      },
    });
  const replies = [calling(call("echo", { n: 1 }, "x"), call("echo", { n: 2 }, "y")), "The answer."];

  test.each(hookNames)("on %s: is recorded with hook and step, and ends the task by policy", async (hook) => {
    const failed = await runSetup({ replies, processors: [broken(hook)] });
    expect(failed.result).toMatchObject({ exitReason: "error", error: `Broken ${hook}: oh no` });
    const step = hook === "onTaskEnd" ? 1 : 0;
    expect(ofType(failed.events, "processor-error")).toEqual([
      { type: "processor-error", step, processor: "Broken", hook, message: `Broken ${hook}: oh no` },
    ]);
    const skipped = await runSetup({ replies, processors: [broken(hook)], policy: "skip" });
    expect(skipped.result).toMatchObject({ exitReason: "done", answer: "The answer." });
    expect(ofType(skipped.events, "processor-error").map((error) => [error.step, error.hook])).toContainEqual(
      [step, hook],
    );
  });

  test("late is recorded at its step", async () => {
    const { events } = await runSetup({ replies: [act, act, "x"], processors: [broken("onStepEnd", 1)] });
    expect(ofType(events, "processor-error")).toMatchObject([{ step: 1, hook: "onStepEnd" }]);
  });

  test("in the middle of a turn leaves no call without its result", async () => {
    const before = await runSetup({ replies, processors: [broken("onBeforeTool")] });
    expect(before.result).toMatchObject({ exitReason: "error", dispatched: [] });
    expect(ofType(before.events, "tool-call").map(({ disposition }) => disposition)).toEqual([
      "blocked",
      "blocked",
    ]);
    expect(historyOf(before.events).slice(-2)).toMatchObject([
      { toolCallId: "x", content: "[echo failed: a processor failed on it]" },
      { toolCallId: "y", content: "[echo failed: a processor failed before it]" },
    ]);
    const after = await runSetup({ replies, processors: [broken("onAfterTool")] });
    expect(after.result.dispatched).toEqual(["echo"]);
    expect(historyOf(after.events).slice(-2)).toMatchObject([
      { toolCallId: "x", content: 'echo: {"n":1}' },
      { toolCallId: "y", isError: true },
    ]);
  });

  test("leaves the others their turn, where the policy is to skip it", async () => {
    const kind = processor("Kind", {
      *onTaskStart(event) {
        yield { ...event, systemPrompt: "Be kind." };
      },
    });
    const { requests } = await runSetup({
      replies,
      processors: [broken("onTaskStart"), kind],
      policy: "skip",
    });
    expect(requests[0]?.messages[0]?.content).toBe("Be kind.");
  });

  test("for a fault of the fence's breaks the rollout instead", async () => {
    const gone: ProcessorPart = {
      ...processor("Gone", {}),
      hooks: new Set(["onStepStart"]),
      run: () => Promise.reject(new LorimerError("infra", "the fence is gone")),
    };
    await expect(runSetup({ replies, processors: [gone], policy: "skip" })).rejects.toMatchObject({
      code: "infra",
    });
  });
});

test("the end of a failed task is told to processors too", async () => {
  const ends: unknown[] = [];
  const watcher = processor("Watcher", {
    *onTaskEnd(event) {
      ends.push(event);
      yield event;
    },
  });
  await runSetup({ replies: [act, act], limits: { max_steps: 2 }, processors: [watcher] });
  expect(ends).toEqual([{ type: "task-end", answer: "", exitReason: "max_steps", steps: 2 }]);
});

test("a prose reply is sent back, and the next call is the skill's: one call, one nudge", async () => {
  let nudged = false;
  const nudge = processor("Nudge", {
    *onAfterModel(event) {
      if (event.toolCalls.length > 0 || nudged) yield event;
      nudged ||= event.toolCalls.length === 0;
    },
    *onBeforeModel(event) {
      const due = nudged && event.step === 1;
      const tail = event.messages.at(-1) as Message;
      yield due
        ? { ...event, messages: event.messages.with(-1, user(`${tail.content}\n\nNo tool was called.`)) }
        : event;
    },
  });
  const { requests, result } = await runSetup({
    replies: ["I am done.", calling(call("invoke_skill", { name: "submit" })), "Submitted."],
    tools: [echoTool("invoke_skill")],
    processors: [nudge],
  });
  expect(requests[1]?.messages.at(-1)?.content).toContain("No tool was called.");
  expect(result).toMatchObject({ answer: "Submitted.", dispatched: ["invoke_skill"], steps: 3 });
});
