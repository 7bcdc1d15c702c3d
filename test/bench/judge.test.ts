import { expect, test } from "vitest";
import type { Evaluator, Finished } from "../../src/bench/evaluators/evaluator.ts";
import { judge } from "../../src/bench/judge.ts";
import { exitReasons } from "../../src/trace/events.ts";
import { task } from "./bench-of.ts";

const done: Finished = { answer: "x", exitReason: "done", steps: 1, dispatched: [], refused: [] };
const giving = (score: unknown, reason?: string): Evaluator => ({
  kind: "test",
  hash: "test",
  evaluate: () => ({ score, ...(reason !== undefined && { reason }) }),
});

test.each([
  [1, "pass"],
  [0, "fail"],
  [0.999, "fail"],
])("the score %d is a %s", async (score, outcome) => {
  expect(await judge(giving(score), done, task("x"))).toEqual({ outcome, score });
  expect(await judge(giving(score, "why"), done, task("x"))).toEqual({ outcome, score, reason: "why" });
});

test.each([
  ["NaN", Number.NaN],
  ["a text", "1"],
  ["more than 1", 1.7],
  ["less than 0", -0.1],
  ["infinite", Number.POSITIVE_INFINITY],
  ["null", null],
  ["undefined", undefined],
  ["true", true],
  ["minus zero", -0],
  ["a big integer", 1n],
  ["a list", [1]],
  ["an object", { score: 1 }],
  ["an object without a prototype", Object.create(null)],
  ["a symbol", Symbol("1")],
])("a score that is %s is invalid, never 0", async (_what, score) => {
  expect(await judge(giving(score), done, task("x"))).toEqual({
    outcome: "invalid",
    score: null,
    reason: expect.stringContaining("no score in [0, 1]"),
  });
});

test.each(["throws", "rejects"])("an evaluator that %s is infrastructure, never 0", async (how) => {
  const evaluate = () => {
    if (how === "throws") throw new Error("no grader");
    return Promise.reject(new Error("no grader"));
  };
  expect(await judge({ kind: "t", hash: "t", evaluate }, done, task("x"))).toEqual({
    outcome: "infra",
    score: null,
    reason: "the evaluator broke: no grader",
  });
});

test.each(exitReasons.filter((reason) => reason !== "done"))(
  "a rollout that ended by %s is a fail, before any evaluator looks",
  async (exitReason) => {
    expect(await judge(giving(1), { ...done, exitReason }, task("x"))).toEqual({
      outcome: "fail",
      score: 0,
      reason: `ended by ${exitReason}`,
    });
  },
);
