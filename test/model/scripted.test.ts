import { expect, test } from "vitest";
import { createModel, worstCase } from "../../src/model/create.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { createScriptedModel } from "../../src/model/scripted.ts";
import { call } from "../support/agent.ts";

const request = (seed = 0, content = "The task."): ModelRequest => ({
  messages: [{ role: "user", content }],
  tools: [],
  sampling: {},
  seed,
});

test("the n-th reply answers the n-th request", async () => {
  const toolCalls = [call("look")];
  const model = createScriptedModel(["One.", { content: "Two.", toolCalls }, { finishReason: "length" }]);
  expect(model).toMatchObject({ kind: "scripted", name: "scripted" });
  expect(await model.complete(request())).toEqual({
    content: "One.",
    toolCalls: [],
    finishReason: "stop",
    usage: { inputTokens: 3, outputTokens: 1 },
    costUsd: 0,
  });
  expect(await model.complete(request())).toMatchObject({
    content: "Two.",
    toolCalls,
    finishReason: "tool_calls",
  });
  expect(await model.complete(request())).toMatchObject({ content: "", finishReason: "length" });
  await expect(model.complete(request())).rejects.toMatchObject({
    code: "usage",
    message: "the scripted model has no reply for turn 4",
  });
});

test("a function sees the request", async () => {
  const model = createScriptedModel(({ seed, messages }) => `${seed}: ${messages[0]?.content}`, {
    name: "own",
  });
  expect(model.name).toBe("own");
  expect(await model.complete(request(3))).toMatchObject({ content: "3: The task." });
});

test("a recipe's scripted model answers by seed, in any order and at once", async () => {
  const model = createModel({ kind: "scripted", name: "s", replies: ["a", "b", "c"], sampling: {} });
  const replies = await Promise.all([4, 0, 2, 4].map((seed) => model.complete(request(seed))));
  expect(replies.map(({ content }) => content)).toEqual(["b", "a", "c", "b"]);
});

test("models of this kind cost nothing, at worst", () => {
  expect(worstCase(createScriptedModel([]), 5)).toBe(0);
  expect(worstCase({ ...createScriptedModel([]), kind: "live" }, 5)).toBe(5);
});
