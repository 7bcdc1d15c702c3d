import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Evaluator, Finished } from "../../src/bench/evaluators/evaluator.ts";
import { loadEvaluator, tryEvaluator } from "../../src/bench/evaluators/index.ts";
import type { Task } from "../../src/config/recipe-schema.ts";
import { recipeOf, task } from "./bench-of.ts";

const done: Finished = { answer: "", exitReason: "done", steps: 1, dispatched: [], refused: [] };

async function scoreOf(evaluator: Evaluator, answer: string, expected: string, run: Partial<Finished> = {}) {
  return (await evaluator.evaluate({ ...done, answer, ...run }, task(expected))).score;
}

const text = (evaluator: Record<string, unknown>) => loadEvaluator(recipeOf({ evaluator }), []);

describe("exact", () => {
  test.each([
    [" junk\n", "junk", 1],
    ["junk", "junk", 1],
    ["Junk", "junk", 0],
    ["junk mail", "junk", 0],
    ["", "junk", 0],
  ])("%j for %j scores %d", async (answer, expected, score) => {
    expect(await scoreOf(await text({ kind: "exact" }), answer, expected)).toBe(score);
  });

  test("may ignore case", async () => {
    expect(await scoreOf(await text({ kind: "exact", ignore_case: true }), "JUNK", "Junk")).toBe(1);
  });
});

describe("regex", () => {
  test.each([
    ["ANSWER: (\\w+)", "", "So. ANSWER: junk", "junk", 1],
    ["ANSWER: (\\w+)", "", "ANSWER: inbox", "junk", 0],
    ["ANSWER: (\\w+)", "", "junk", "junk", 0],
    ["answer: (\\w+)", "i", "ANSWER: junk", "junk", 1],
    ["\\d+", "", "It is 42.", "42", 1],
    ["\\d+", "", "It is 142.", "42", 0],
    ["x?", "", "", "", 1],
  ])("/%s/%s on %j for %j scores %d", async (pattern, flags, answer, expected, score) => {
    expect(await scoreOf(await text({ kind: "regex", pattern, flags }), answer, expected)).toBe(score);
  });

  test("keeps no state between answers, whatever its flags", async () => {
    const evaluator = await text({ kind: "regex", pattern: "\\d+", flags: "gy" });
    for (let time = 0; time < 3; time++) expect(await scoreOf(evaluator, "42", "42")).toBe(1);
  });
});

describe("json", () => {
  test.each([
    [undefined, '{"a": 1, "b": [2]}', '{"b":[2],"a":1}', 1],
    [undefined, '{"a": 1}', '{"a": 1, "b": 2}', 0],
    [undefined, "not json", "not json", 0],
    [undefined, '"junk"', "junk", 1],
    [undefined, "null", "null", 1],
    [undefined, "", "null", 0],
    ["route", '{"route": "junk", "why": "…"}', "junk", 1],
    ["route", '{"route": "inbox"}', "junk", 0],
    ["route", '{"why": "junk"}', "junk", 0],
    ["route", "junk", "junk", 0],
    ["route", "null", "junk", 0],
    ["count", '{"count": 3}', "3", 1],
    ["count", '{"count": "3"}', "3", 0],
    ["none", '{"none": null}', "null", 1],
    ["none", "{}", "null", 0],
    ["constructor", "{}", "null", 0],
  ])("with field %s, %j for %j scores %d", async (field, answer, expected, score) => {
    const evaluator = await text({ kind: "json", ...(field !== undefined && { field }) });
    expect(await scoreOf(evaluator, answer, expected)).toBe(score);
  });
});

describe("eval_gate", () => {
  const spec = (gate: Record<string, unknown> = {}) => ({
    ...{ name: "triage", trigger: "mail came", inputs: ["body"], writeback: "log", allowlist: ["*"] },
    decisions: { route: { options: ["junk", "inbox"] } },
    eval_gate: { max_iters: 3, ...gate },
  });
  const labels = ["ROUTE junk", "ROUTE inbox", "ROUTE junk", "ROUTE inbox", "ROUTE once"];
  const tasks = labels.map((expected, index) => task(expected, `t${index}`));
  const gate = (keys: Record<string, unknown> = {}, of: readonly Task[] = tasks) =>
    loadEvaluator(recipeOf({ evaluator: { kind: "eval_gate" }, spec: spec(keys) }), of);

  test.each([
    ["ROUTE junk", 1],
    ["I would say ROUTE junk.", 1],
    ["ROUTE inbox", 0],
    ["junk", 0],
    ["", 0],
    ["ROUTE junk or ROUTE inbox", 0],
    ["ROUTE junk, not ROUTE once", 1],
  ])("%j for ROUTE junk scores %d", async (answer, score) => {
    expect(await scoreOf(await gate(), answer, "ROUTE junk")).toBe(score);
  });

  test("says which other label an answer holds", async () => {
    const finished = { ...done, answer: "ROUTE junk or ROUTE inbox" };
    expect((await (await gate()).evaluate(finished, task("ROUTE junk"))).reason).toContain("ROUTE inbox");
  });

  test.each([
    ["ROUTE in", "ROUTE inbox", 0],
    ["ROUTE in", "ROUTE in", 1],
    ["ROUTE inbox", "ROUTE inbox", 1],
    ["ROUTE inbox", "ROUTE in", 0],
    ["ROUTE inbox", "ROUTE in, ROUTE inbox", 0],
  ])(
    "for the label %s the answer %j scores %d, one label being a part of the other",
    async (expected, answer, score) => {
      const nested = ["ROUTE in", "ROUTE inbox", "ROUTE in", "ROUTE inbox"].map((label, index) =>
        task(label, `n${index}`),
      );
      expect(await scoreOf(await gate({}, nested), answer, expected)).toBe(score);
    },
  );

  test("answers that only one task has are no labels", async () => {
    const free = ["4", "14", "Paris"].map((expected, index) => task(expected, `f${index}`));
    expect(await scoreOf(await gate({}, free), "It is 14, as in Paris.", "14")).toBe(1);
  });

  test.each<[string, Record<string, unknown>, Partial<Finished>, number]>([
    ["a required call was made", { must_call: "lookup" }, { dispatched: ["lookup"] }, 1],
    ["a required call was not made", { must_call: "lookup" }, { dispatched: ["other"] }, 0],
    ["a name was refused", {}, { refused: ["wipe"] }, 0],
    ["it took all steps it may", {}, { steps: 3 }, 1],
    ["it took a step too many", {}, { steps: 4 }, 0],
    ["it was ended by a limit", {}, { exitReason: "max_steps" }, 0],
  ])("the right answer, when %s", async (_what, keys, run, score) => {
    expect(await scoreOf(await gate(keys), "ROUTE junk", "ROUTE junk", run)).toBe(score);
  });

  test("with a text of the spec's own, that text decides", async () => {
    const evaluator = await gate({ must_include: "ROUTE" });
    expect(await scoreOf(evaluator, "ROUTE night, or ROUTE inbox", "ROUTE junk")).toBe(1);
    expect(await scoreOf(evaluator, "junk", "ROUTE junk")).toBe(0);
  });

  test("is tried both ways with the required call made", async () => {
    await tryEvaluator(await gate({ must_call: "lookup" }), tasks);
    await tryEvaluator(await gate({ must_call: "lookup", must_include: "DONE" }), tasks);
  });

  test("needs a spec", async () => {
    await expect(text({ kind: "eval_gate" })).rejects.toMatchObject({ code: "config" });
  });
});

describe("module", () => {
  const dir = mkdtempSync(join(tmpdir(), "lorimer-evaluators-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const load = (name: string, source: string) => {
    writeFileSync(join(dir, name), source);
    return loadEvaluator(recipeOf({ evaluator: { kind: "module", module: name } }, dir), []);
  };

  test("gives the score of its function", async () => {
    const evaluator = await load(
      "half.mjs",
      "export const evaluate = async (answer, task) => answer === task.expected ? 1 : 0.5;",
    );
    expect(await scoreOf(evaluator, "a", "a")).toBe(1);
    expect(await scoreOf(evaluator, "b", "a")).toBe(0.5);
  });

  test("is known by its text", async () => {
    const hashes = await Promise.all([
      load("a.mjs", "export const evaluate = () => 1;"),
      load("b.mjs", "export const evaluate = () => 0;"),
    ]);
    expect(hashes[0]?.hash).not.toBe(hashes[1]?.hash);
  });

  test.each([
    ["without the function", "none.mjs", "export const other = 1;", "exports no function evaluate"],
    ["that does not load", "broken.mjs", "export const evaluate = ;", "cannot be loaded"],
  ])("%s is a plain error", async (_what, name, source, message) => {
    await expect(load(name, source)).rejects.toMatchObject({
      code: "config",
      message: expect.stringContaining(message),
    });
  });
});

describe("trying an evaluator both ways", () => {
  const tasks = [task("junk", "t1"), task("inbox", "t2")];
  const giving = (evaluate: Evaluator["evaluate"]): Evaluator => ({ kind: "test", hash: "test", evaluate });

  test.each<[string, Record<string, unknown>, string]>([
    ["exact", { kind: "exact" }, "junk"],
    ["regex with a group", { kind: "regex", pattern: "ANSWER: (\\w+)$" }, "junk"],
    ["regex without one", { kind: "regex", pattern: "junk|inbox" }, "junk"],
    ["json", { kind: "json" }, '{"a": 1}'],
    ["json of a plain text", { kind: "json" }, "junk"],
    ["json with a field", { kind: "json", field: "route" }, "junk"],
    ["json with a field of null", { kind: "json", field: "route" }, "null"],
  ])("passes %s", async (_what, evaluator, expected) => {
    await tryEvaluator(await text(evaluator), [task(expected)]);
  });

  test.each<[string, Evaluator["evaluate"], string]>([
    ["the right answer does not pass", () => ({ score: 0 }), "the right answer of task t1 0, not 1"],
    ["everything passes", () => ({ score: 1 }), "an empty answer of task t1 1, not 0"],
    [
      "a plea passes",
      ({ answer }, { expected }) => ({ score: answer === expected || answer.includes("pass") ? 1 : 0 }),
      '"grader: pass" of task t1 1, not 0',
    ],
    ["the score is none", () => ({ score: Number.NaN }), "no score (no score in [0, 1]: NaN), not 1"],
    [
      "it breaks",
      () => {
        throw new Error("no grader");
      },
      "no score (the evaluator broke: no grader), not 1",
    ],
    [
      "minus zero is no 0",
      ({ answer }, { expected }) => ({ score: answer === expected ? 1 : -0 }),
      "no score",
    ],
  ])("refuses one where %s", async (_what, evaluate, message) => {
    await expect(tryEvaluator(giving(evaluate), tasks)).rejects.toMatchObject({
      code: "config",
      message: expect.stringContaining(message),
      hint: expect.any(String),
    });
  });

  test("refuses a pattern without a group that the right answer does not match", async () => {
    const evaluator = await text({ kind: "regex", pattern: "\\d+" });
    await expect(tryEvaluator(evaluator, tasks)).rejects.toThrow("the right answer of task t1 0");
  });
});
