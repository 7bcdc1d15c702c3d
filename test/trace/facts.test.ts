import { expect, test } from "vitest";
import { factsOf } from "../../src/trace/facts.ts";
import { readTrace } from "../../src/trace/steps.ts";
import { called, end, opening, reply, start, traceOf } from "./trajectory.ts";

const trace = traceOf(
  opening("Find the <b>answer</b>."),
  reply(0, "Let me look."),
  ...called(0, ["a", "look", { q: "x", n: 1 }], "nothing"),
  ...called(0, ["b", "write", {}], `[write failed: ${"y".repeat(300)}]`, { isError: true }),
  reply(1, ""),
  ...called(1, ["c", "look", { n: 1, q: "x" }], "nothing"),
  ...called(1, ["d", "look", { q: "x", n: 2 }], "nothing"),
  ...called(1, ["e", "ghost", {}], "[ghost failed: none]", { isError: true, disposition: "unknown" }),
  {
    type: "processor-trigger",
    step: 1,
    processor: "Guard",
    hook: "onAfterTool",
    action: "warned",
    detail: "",
  },
  { type: "processor-error", step: 1, processor: "Bad", hook: "onStepEnd", message: "Bad onStepEnd: oh no" },
  reply(2, "The answer."),
  end,
);
const facts = factsOf(trace);

test("facts name the rollout and how it ended", () => {
  expect(facts).toMatchObject({
    rollout: "key",
    task: "t1",
    exitReason: "done",
    steps: 2,
    answer: "The answer.",
  });
});

test("a call again with the same input is a repeat, in whatever order its fields stand", () => {
  expect(facts.repeats).toEqual([{ step: 1, name: "look" }]);
});

test("a tool that is offered and never called is unused", () => {
  expect(facts.unused).toEqual(["never"]);
});

test("errors have their tail", () => {
  const [, write, , , ghost] = facts.calls;
  expect(write).toMatchObject({ step: 0, name: "write", isError: true, resultChars: 316 });
  expect(write?.errorTail).toBe(`${"y".repeat(199)}]`);
  expect(ghost).toMatchObject({ disposition: "unknown", errorTail: "[ghost failed: none]" });
  expect(facts.calls[0]).toMatchObject({ isError: false, errorTail: undefined, resultChars: 7 });
});

test("what was said, what fired and what failed have their steps", () => {
  expect(facts.said).toEqual([
    { step: 0, text: "Let me look." },
    { step: 2, text: "The answer." },
  ]);
  expect(facts.fired).toEqual([{ processor: "Guard", step: 1 }]);
  expect(facts.processorErrors).toEqual([
    { processor: "Bad", hook: "onStepEnd", step: 1, message: "Bad onStepEnd: oh no" },
  ]);
});

test("the task is measured: its head, its length, its markup", () => {
  expect(facts).toMatchObject({ taskHead: "Find the <b>answer</b>.", taskChars: 23 });
  expect(facts.markupShare).toBeCloseTo(7 / 23);
  const long = factsOf(traceOf(opening("a".repeat(5000)), end));
  expect(long).toMatchObject({ taskChars: 5000, markupShare: 0 });
  expect(long.taskHead).toHaveLength(2000);
});

test("a rollout that broke off still has facts; one that has no start has none", () => {
  const torn = factsOf(traceOf(opening("The task."), reply(0, "Let me look.")));
  expect(torn).toMatchObject({ exitReason: undefined, steps: 1, answer: "", calls: [] });
  expect(factsOf(traceOf())).toMatchObject({ steps: 0, taskChars: 0, markupShare: 0 });
  expect(readTrace([opening("The task.")])).toBeUndefined();
  expect(readTrace([start])?.steps).toEqual([]);
});
