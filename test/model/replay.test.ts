import { describe, expect, test } from "vitest";
import { createReplayModel, Divergence } from "../../src/model/replay.ts";
import { call, calling, echoTool, ofType, processor, runSetup, type Setup } from "../support/agent.ts";

const setup: Setup = {
  replies: [calling(call("echo", { a: 1 })), calling(call("echo", { a: 2 })), "The answer."],
  guided: true,
};

const record = async () => (await runSetup(setup)).events;
const replayed = async (changes: Partial<Setup>) => {
  const events = await record();
  return await runSetup({ ...setup, ...changes, model: createReplayModel(events) }).catch(
    (error: unknown) => error,
  );
};

test("the record's replies are served while every request is as recorded", async () => {
  const events = await record();
  const again = await runSetup({ ...setup, model: createReplayModel(events) });
  expect(again.events).toEqual(events);
  expect(again.result).toMatchObject({ exitReason: "done", answer: "The answer." });
});

describe("the first request that differs is a divergence", () => {
  const addressed = (step: number) =>
    processor("Probe", {
      *onBeforeModel(event) {
        const hint = { role: "user", content: "Hint." } as const;
        yield event.step < step ? event : { ...event, messages: [...event.messages, hint] };
      },
    });
  test.each<[string, Partial<Setup>, number]>([
    ["another prompt", { systemPrompt: "Be long." }, 0],
    ["another task", { task: "Another task." }, 0],
    ["other tools", { tools: [echoTool(), echoTool("more")] }, 0],
    ["other sampling", { sampling: { temperature: 1 } }, 0],
    ["another result", { tools: [{ ...echoTool(), run: async () => ({ result: "x", isError: false }) }] }, 1],
    ["a processor, late", { processors: [addressed(2)] }, 2],
  ])("by %s", async (_what, changes, index) => {
    const error = await replayed(changes);
    expect(error).toBeInstanceOf(Divergence);
    const divergence = error as Divergence;
    expect(divergence.index).toBe(index);
    expect(divergence.recorded?.step).toBe(index);
    expect(divergence.request.messages.length).toBeGreaterThan(1);
  });

  test("also one that the record does not have", async () => {
    const events = (await record()).filter((event) => !("step" in event) || event.step < 2);
    const error = await runSetup({ ...setup, model: createReplayModel(events) }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ index: 2, recorded: undefined });
  });
});

test("usage and cost are the record's, so that its budgets end where they ended", async () => {
  const limits = { max_tokens: 10 };
  const { events, result } = await runSetup({ ...setup, limits });
  expect(result.exitReason).toBe("budget");
  const again = await runSetup({ ...setup, limits, model: createReplayModel(events) });
  expect(again.result).toEqual(result);
  expect(ofType(again.events, "model-reply")).toEqual(ofType(events, "model-reply"));
});
