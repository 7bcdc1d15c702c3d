import { describe, expect, test } from "vitest";
import {
  type BlockModel,
  type BlockResponse,
  buildHarnessRun,
  formatHarnessRun,
  type HarnessSpec,
} from "../../src/agent/spec-run.ts";
import type { Message } from "../../src/trace/messages.ts";

const spec: HarnessSpec = {
  name: "inbox triage",
  trigger: "item landed in the queue",
  inputs: ["item.body", "queue.history"],
  decisions: { route: { reversible: true } },
  writeback: "queue/log.jsonl",
  eval_gate: { must_call: "lookup", must_include: "ROUTE", max_iters: 4 },
  allowlist: ["lookup", "writeback"],
};
const inputs = { "item.body": "urgent in the queue" };
const tools = {
  lookup: ({ q }: { q: string }) => `hits for ${q}`,
  writeback: ({ path }: { path: string }) => `wrote ${path}`,
};

const use = (id: string, name: string, input: Record<string, unknown> = {}) =>
  ({ type: "tool_use", id, name, input }) as const;
const say = (text: string) => ({ type: "text", text }) as const;
const acting = (...content: BlockResponse["content"]): BlockResponse => ({
  stop_reason: "tool_use",
  content,
});
const ending = (...content: BlockResponse["content"]): BlockResponse => ({
  stop_reason: "end_turn",
  content,
});
const lookup = (id = "t1") => acting(use(id, "lookup", { q: "overtime" }));

/** The model as an iterator of responses, and every request that it saw. */
function scripted(...responses: BlockResponse[]): { model: BlockModel; seen: Message[][] } {
  const seen: Message[][] = [];
  const waiting = responses.values();
  const model: BlockModel = (messages) => {
    seen.push([...messages]);
    return waiting.next().value as BlockResponse;
  };
  return { model, seen };
}

const run = (model: BlockModel, changes: Partial<HarnessSpec> = {}, maxIterations = 5) =>
  buildHarnessRun({ ...spec, ...changes }, inputs, tools, model, maxIterations);

describe("the cases of the specification", () => {
  test("1: the good case prints its line", async () => {
    const { model } = scripted(lookup(), ending(say("ROUTE night.")));
    expect(formatHarnessRun(await run(model))).toBe("text='ROUTE night.' iters=2 tool_calls=1 gate=pass");
  });

  test("2: the bad case, a tool that is not allowed, prints its line", async () => {
    const { model } = scripted(acting(use("b1", "wipe")), ending(say("done.")));
    expect(formatHarnessRun(await run(model))).toBe("text='done.' iters=2 tool_calls=0 gate=fail");
  });

  test("3: the user turn carries name, trigger, inputs, decisions and write-back", async () => {
    const { model, seen } = scripted(ending(say("ROUTE night.")));
    await run(model);
    expect(seen[0]?.map(({ role }) => role)).toEqual(["user"]);
    const turn = seen[0]?.[0]?.content;
    for (const part of [spec.name, spec.trigger, "item.body: urgent in the queue", "route", spec.writeback])
      expect(turn).toContain(part);
    expect(turn).toContain("queue.history: not provided");
  });

  test("4: text and several tool uses in one response are all handled", async () => {
    const { model, seen } = scripted(
      acting(say("Let me look. "), use("a", "lookup", { q: "x" }), say("And write."), use("b", "writeback")),
      ending(say("ROUTE "), say("night.")),
    );
    expect(await run(model)).toEqual({ text: "ROUTE night.", iters: 2, tool_calls: 2, gate: "pass" });
    expect(seen[1]?.slice(1)).toMatchObject([
      { role: "assistant", content: "Let me look. And write.", toolCalls: [{ id: "a" }, { id: "b" }] },
      { role: "tool", toolCallId: "a", content: "hits for x" },
      { role: "tool", toolCallId: "b", content: "wrote undefined" },
    ]);
  });

  test("5: only allowed names are dispatched, and only those count", async () => {
    const { model } = scripted(
      acting(use("a", "wipe"), use("b", "lookup", { q: "x" })),
      ending(say("ROUTE night.")),
    );
    expect(await run(model)).toMatchObject({ iters: 2, tool_calls: 1, gate: "fail" });
  });

  test("6: at the cap the text is `capped`", async () => {
    const result = await run(() => lookup("again"));
    expect(result).toEqual({ text: "capped", iters: 5, tool_calls: 5, gate: "fail" });
  });

  test("7: one forbidden name fails an otherwise right run", async () => {
    const { model } = scripted(lookup(), acting(use("b", "wipe")), ending(say("ROUTE night.")));
    expect(await run(model)).toEqual({ text: "ROUTE night.", iters: 3, tool_calls: 1, gate: "fail" });
  });

  test("8: the gate's own limit is below the loop's", async () => {
    const late = scripted(lookup("a"), lookup("b"), lookup("c"), lookup("d"), ending(say("ROUTE night.")));
    expect(await run(late.model)).toEqual({ text: "ROUTE night.", iters: 5, tool_calls: 4, gate: "fail" });
    const inTime = scripted(lookup("a"), lookup("b"), lookup("c"), ending(say("ROUTE night.")));
    expect(await run(inTime.model)).toMatchObject({ iters: 4, gate: "pass" });
  });

  test.each([
    ["lookup", "ROUTE night.", "pass"],
    ["lookup", "night.", "fail"],
    ["writeback", "ROUTE night.", "fail"],
    ["writeback", "night.", "fail"],
  ])("9: %s was called and the text is %j: %s", async (name, text, gate) => {
    const { model } = scripted(acting(use("a", name, { q: "x" })), ending(say(text)));
    expect(await run(model)).toMatchObject({ tool_calls: 1, gate });
  });

  test("10: a required call that was skipped does not count", async () => {
    const { model } = scripted(lookup(), ending(say("ROUTE night.")));
    expect(await run(model, { allowlist: ["writeback"] })).toMatchObject({ tool_calls: 0, gate: "fail" });
  });

  test("11: a skipped call gets a linked result too", async () => {
    const { model, seen } = scripted(
      acting(use("a", "wipe"), use("b", "lookup", { q: "x" }), use("c", "wipe")),
      ending(say("ROUTE night.")),
    );
    expect(await run(model)).toMatchObject({ tool_calls: 1 });
    const results = seen[1]?.filter(({ role }) => role === "tool");
    expect(results).toMatchObject([
      { toolCallId: "a", name: "wipe", isError: true },
      { toolCallId: "b", content: "hits for x" },
      { toolCallId: "c", name: "wipe", isError: true },
    ]);
    expect(results?.[0]?.content).toContain("allowlist");
  });

  test("12: a model that runs out of responses is an error that names the turn", async () => {
    const { model } = scripted(lookup());
    await expect(run(model)).rejects.toMatchObject({
      code: "usage",
      message: "the model has no response for turn 2",
      hint: expect.stringContaining("end_turn"),
    });
  });
});

test("a name in the last turn counts as named, though nothing is dispatched there", async () => {
  const { model } = scripted(lookup(), ending(say("ROUTE night."), use("b", "wipe")));
  expect(await run(model)).toEqual({ text: "ROUTE night.", iters: 2, tool_calls: 1, gate: "fail" });
});

test("only end_turn ends: a tool_use turn without a tool goes on", async () => {
  const { model } = scripted(acting(say("ROUTE soon.")), lookup(), ending(say("ROUTE night.")));
  expect(await run(model)).toEqual({ text: "ROUTE night.", iters: 3, tool_calls: 1, gate: "pass" });
});

test("a turn that was cut off runs nothing", async () => {
  const cut = { stop_reason: "max_tokens", content: [use("a", "lookup", { q: "x" })] } as const;
  const { model } = scripted({ ...cut, content: [...cut.content] }, ending(say("ROUTE night.")));
  expect(await run(model)).toMatchObject({ tool_calls: 0, gate: "fail" });
});

test("an allowlist with `*` allows every tool", async () => {
  const { model } = scripted(lookup(), ending(say("ROUTE night.")));
  expect(await run(model, { allowlist: ["*"] })).toMatchObject({ tool_calls: 1, gate: "pass" });
});

test.each([
  ["undefined", () => undefined],
  ["null", () => null],
  ["an empty text", () => ""],
  ["a function", () => () => 1],
])("a tool that returns %s has failed", async (_what, broken) => {
  const { model, seen } = scripted(acting(use("a", "broken")), ending(say("ROUTE night.")));
  await buildHarnessRun({ ...spec, allowlist: ["broken"] }, inputs, { broken }, model, 5);
  expect(seen[1]?.at(-1)).toMatchObject({ content: "[broken failed: returned nothing]", isError: true });
});

test("a tool's value becomes text, and what it throws a result", async () => {
  const { model, seen } = scripted(acting(use("a", "list"), use("b", "bad")), ending(say("ROUTE night.")));
  const own = {
    list: async () => [1, { two: 2 }],
    bad: () => {
      throw new Error("no luck");
    },
  };
  await buildHarnessRun({ ...spec, allowlist: ["list", "bad"] }, inputs, own, model, 5);
  expect(seen[1]?.slice(-2)).toMatchObject([
    { content: '[1,{"two":2}]' },
    { content: "[bad failed: no luck]", isError: true },
  ]);
});

test("a wrong spec is a plain error", async () => {
  const wrong = { ...spec, trigger: 3 as unknown as string };
  await expect(buildHarnessRun(wrong, inputs, tools, () => lookup(), 5)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("trigger"),
  });
  await expect(run(() => lookup(), {}, 0)).rejects.toMatchObject({ code: "usage" });
});

test.each([
  ["it's", `"it's"`],
  [`it's "so"`, `'it\\'s "so"'`],
  [`"so"`, `'"so"'`],
  ["a\nb\tc\rd\\e", "'a\\nb\\tc\\rd\\\\e'"],
  ["a\u0007b\u2028c", "'a\\x07b\\u2028c'"],
  ["größe 日本", "'größe 日本'"],
])("the text %j is quoted on one line", (text, quoted) => {
  const line = formatHarnessRun({ text, iters: 1, tool_calls: 0, gate: "fail" });
  expect(line).toBe(`text=${quoted} iters=1 tool_calls=0 gate=fail`);
});
