import { describe, expect, test } from "vitest";
import { LorimerError } from "../../src/lib/errors.ts";
import { createScriptedModel, type ScriptedReply } from "../../src/model/scripted.ts";
import { call, calling, echoTool, historyOf, ofType, processor, runSetup } from "../support/agent.ts";

const act = calling(call("echo", { a: 1 }));
const cut = (content = "") => ({ content, finishReason: "length" }) as const;
const many = (reply: ScriptedReply, count = 20) => Array.from({ length: count }, () => reply);

describe("a rollout ends", () => {
  test("done, with the reply that calls nothing", async () => {
    const { result } = await runSetup({ replies: [act, "The answer."] });
    expect(result).toMatchObject({ exitReason: "done", answer: "The answer.", steps: 2 });
    expect(result.dispatched).toEqual(["echo"]);
    expect(result.error).toBeUndefined();
  });

  test("max_steps, when all requests are used", async () => {
    const { result } = await runSetup({ replies: many(act), limits: { max_steps: 3 } });
    expect(result).toMatchObject({ exitReason: "max_steps", answer: "", steps: 3 });
  });

  test("budget, when the tokens are used", async () => {
    const { result, requests } = await runSetup({
      replies: many(act),
      task: "x".repeat(400),
      limits: { max_tokens: 150 },
    });
    expect(result).toMatchObject({ exitReason: "budget", error: "max_tokens", steps: 2 });
    expect(requests).toHaveLength(2);
  });

  test("budget, when the money is used; a limit of 0 allows what is free and nothing else", async () => {
    const paid = (costUsd: number) => {
      const inner = createScriptedModel(many(act));
      const complete = async (request: Parameters<typeof inner.complete>[0]) => ({
        ...(await inner.complete(request)),
        costUsd,
      });
      return { ...inner, complete };
    };
    const run = (costUsd: number, max_cost_usd: number) =>
      runSetup({ replies: [], model: paid(costUsd), limits: { max_cost_usd } });
    expect((await run(0.4, 1)).result).toMatchObject({
      exitReason: "budget",
      error: "max_cost_usd",
      steps: 3,
    });
    expect((await run(0.01, 0)).result).toMatchObject({ exitReason: "budget", steps: 1 });
    expect((await run(0, 0)).result).toMatchObject({ exitReason: "max_steps", steps: 8 });
  });

  test("timeout, when it is called off", async () => {
    const controller = new AbortController();
    const tools = [echoTool("echo", () => controller.abort() ?? "stopped")];
    const { result, events } = await runSetup({
      replies: [calling(call("echo"), call("echo")), "never asked"],
      tools,
      signal: controller.signal,
    });
    expect(result).toMatchObject({ exitReason: "timeout", steps: 1 });
    expect(ofType(events, "tool-call").map(({ disposition }) => disposition)).toEqual([
      "dispatched",
      "limit",
    ]);
    expect(ofType(events, "tool-result")[1]?.result).toContain("limit");
  });

  test("timeout, when its seconds are over", async () => {
    const slow = echoTool("echo", async () => {
      // Past the limit, whatever the machine's speed.
      const until = performance.now() + 101;
      while (performance.now() < until);
      return "late";
    });
    const { result } = await runSetup({
      replies: many(act),
      tools: [slow],
      limits: { max_seconds: 0.1 },
    });
    expect(result).toMatchObject({ exitReason: "timeout", steps: 1, dispatched: ["echo"] });
  });

  test("format_errors, after too many empty replies", async () => {
    const { result, events } = await runSetup({
      replies: many(" "),
      guided: true,
      limits: { max_steps: 20 },
    });
    expect(result).toMatchObject({ exitReason: "format_errors", answer: "", steps: 4 });
    expect(ofType(events, "nudge").map(({ reason }) => reason)).toEqual(Array(3).fill("empty_reply"));
  });

  test("error, when a processor fails", async () => {
    const broken = processor("Broken", {
      // biome-ignore lint/correctness/useYield: it never gets there
      *onStepEnd() {
        throw new Error("oh no");
      },
    });
    const { result } = await runSetup({ replies: ["The answer."], processors: [broken] });
    expect(result).toMatchObject({ exitReason: "error", error: "Broken onStepEnd: oh no" });
  });

  test("in nothing, when the model breaks: that is thrown", async () => {
    await expect(runSetup({ replies: [act] })).rejects.toMatchObject({
      code: "usage",
      message: "the scripted model has no reply for turn 2",
    });
  });
});

describe("calls", () => {
  test("get one result each, in call order, good or bad", async () => {
    const bad = echoTool("bad", () => {
      throw new Error("no luck");
    });
    const { events, requests, result } = await runSetup({
      replies: [
        calling(call("echo", { a: 1 }, "x"), call("bad", {}, "y"), call("nope", {}, "z")),
        "The answer.",
      ],
      tools: [echoTool(), bad],
    });
    expect(requests[1]?.messages.slice(2)).toEqual([
      {
        role: "assistant",
        content: "",
        toolCalls: [call("echo", { a: 1 }, "x"), call("bad", {}, "y"), call("nope", {}, "z")],
      },
      { role: "tool", toolCallId: "x", name: "echo", content: 'echo: {"a":1}' },
      { role: "tool", toolCallId: "y", name: "bad", content: "[bad failed: no luck]", isError: true },
      {
        role: "tool",
        toolCallId: "z",
        name: "nope",
        content: "[nope failed: there is no tool of that name. Tools: echo, bad.]",
        isError: true,
      },
    ]);
    expect(ofType(events, "tool-call").map(({ disposition }) => disposition)).toEqual([
      "dispatched",
      "dispatched",
      "unknown",
    ]);
    expect(result.dispatched).toEqual(["echo", "bad"]);
  });

  test("without an id, or with one that was used, get one of their own", async () => {
    const { requests } = await runSetup({
      replies: [
        calling(call("echo", {}, ""), call("echo", {}, "call-0-0"), call("echo", {}, "call-0-0")),
        calling(call("echo", {}, "call-0-0")),
        "The answer.",
      ],
    });
    const ids = requests[2]?.messages.flatMap((message) =>
      message.role === "tool" ? [message.toolCallId] : [],
    );
    expect(ids).toEqual(["call-0-0", "call-0-1", "call-0-2", "call-1-0"]);
  });

  test("outside the allowlist are refused, and are told so", async () => {
    const { result, requests } = await runSetup({
      replies: [calling(call("echo"), call("other"), call("ghost")), "The answer."],
      tools: [echoTool(), echoTool("other")],
      allowlist: ["other"],
    });
    expect(result).toMatchObject({ dispatched: ["other"], refused: ["echo", "ghost"] });
    expect(requests[1]?.messages.at(-3)).toMatchObject({ name: "echo", isError: true });
  });

  test("of an exclusive tool run once a turn, and again in the next", async () => {
    let moves = 0;
    const { requests, result } = await runSetup({
      replies: [
        calling(call("play_move"), call("echo"), call("play_move")),
        calling(call("play_move")),
        "Won.",
      ],
      tools: [echoTool(), echoTool("play_move", () => `move ${++moves}`)],
      limits: { exclusive: ["play_move"] },
    });
    expect(moves).toBe(2);
    expect(result.dispatched).toEqual(["play_move", "echo", "play_move"]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      content: expect.stringContaining("only one such call a turn"),
    });
  });

  test("of a reply that was cut off do not run", async () => {
    const { result, events } = await runSetup({
      replies: [{ toolCalls: [call("echo"), call("nope")], finishReason: "length" }, "The answer."],
    });
    expect(result.dispatched).toEqual([]);
    expect(ofType(events, "tool-call").map(({ disposition }) => disposition)).toEqual(["cut_off", "cut_off"]);
    expect(ofType(events, "tool-result")).toHaveLength(2);
  });

  test.each([
    ["an empty text", ""],
    ["undefined", undefined],
  ])("that give %s have failed", async (_what, value) => {
    const { requests } = await runSetup({
      replies: [act, "The answer."],
      tools: [echoTool("echo", () => value)],
    });
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: "[echo failed: returned nothing]",
      isError: true,
    });
  });

  test("whose tool's fence breaks end the rollout by an error, not by a result", async () => {
    const gone = echoTool("echo", () => {
      throw new LorimerError("infra", "the fence is gone");
    });
    await expect(runSetup({ replies: [act], tools: [gone] })).rejects.toMatchObject({ code: "infra" });
  });

  test("have inputs as JSON holds them", async () => {
    const input = { zero: -0, none: undefined, ["__proto__"]: { a: 1 }, list: [undefined] };
    const { requests } = await runSetup({ replies: [calling(call("echo", input)), "The answer."] });
    expect(requests[1]?.messages.at(-1)).toMatchObject({ content: 'echo: {"zero":0,"list":[null]}' });
  });
});

describe("the runtime's own words", () => {
  const nudges = async (max_steps: number) => {
    const { events, requests, result } = await runSetup({
      replies: many(act, max_steps),
      guided: true,
      limits: { max_steps },
    });
    return {
      events,
      requests,
      result,
      said: ofType(events, "nudge").map(({ step, reason }) => [step, reason]),
    };
  };

  test("warn once when 70 % of the requests are used, and keep the last for the answer", async () => {
    const { said, events, requests } = await nudges(10);
    expect(said).toEqual([
      [7, "budget_warning"],
      [9, "last_step"],
    ]);
    expect(requests[7]?.messages.at(-1)).toEqual({
      role: "user",
      content: "You have used 7 of 10 turns. Finish in the 3 that are left.",
    });
    expect(ofType(events, "tool-call").at(-1)?.disposition).toBe("last_step");
    expect(ofType(events, "tool-call").at(-2)?.disposition).toBe("dispatched");
  });

  test("fit small budgets", async () => {
    expect((await nudges(2)).said).toEqual([[1, "last_step"]]);
    expect((await nudges(3)).said).toEqual([[2, "last_step"]]);
    expect((await nudges(1)).said).toEqual([]);
    expect((await nudges(1)).result.dispatched).toEqual(["echo"]);
  });

  test("tell apart empty and cut-off replies", async () => {
    const { result, events, requests } = await runSetup({
      replies: ["", cut("Half an ans"), "The answer."],
      guided: true,
    });
    expect(result).toMatchObject({ exitReason: "done", answer: "The answer." });
    expect(ofType(events, "nudge").map(({ reason }) => reason)).toEqual(["empty_reply", "cut_off"]);
    expect(requests[2]?.messages.at(-1)?.content).toContain("cut off");
  });

  test("are not said when they are not wanted", async () => {
    const { events, result } = await runSetup({ replies: many(act), limits: { max_steps: 5 } });
    expect(ofType(events, "nudge")).toEqual([]);
    expect(result.dispatched).toHaveLength(5);
    expect((await runSetup({ replies: [""] })).result).toMatchObject({ exitReason: "done", answer: "" });
  });

  test("ten calls used and one short of the answer is a limit, not a wrong answer; with eleven it passes", async () => {
    const replies = [...many(act, 10), "9 passed."];
    const short = await runSetup({ replies, limits: { max_steps: 10 } });
    expect(short.result).toMatchObject({ exitReason: "max_steps", answer: "" });
    const enough = await runSetup({ replies, limits: { max_steps: 11 } });
    expect(enough.result).toMatchObject({ exitReason: "done", answer: "9 passed." });
  });
});

test("events come in the loop's order: prompt, request, reply, calls with their results", async () => {
  const { events } = await runSetup({ replies: [act, "The answer."] });
  expect(events.map(({ type }) => type)).toEqual([
    "rollout-start",
    ...["messages-append", "model-request", "model-reply"],
    ...["messages-append", "tool-call", "tool-result", "messages-append"],
    ...["model-request", "model-reply", "messages-append"],
  ]);
  expect(historyOf(events).map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
});

test("without a system prompt there is no system message", async () => {
  const { requests } = await runSetup({ replies: ["The answer."], systemPrompt: "" });
  expect(requests[0]?.messages).toEqual([{ role: "user", content: "The task." }]);
});

test("the model gets tools, sampling and seed", async () => {
  const { requests } = await runSetup({ replies: ["The answer."], sampling: { temperature: 0 } });
  expect(requests[0]).toMatchObject({ sampling: { temperature: 0 }, seed: 1, tools: [{ name: "echo" }] });
});
