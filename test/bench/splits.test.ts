import fc from "fast-check";
import { expect, test } from "vitest";
import { drawSplits, type Splits } from "../../src/bench/splits.ts";
import type { Task } from "../../src/config/recipe-schema.ts";
import { LorimerError } from "../../src/lib/errors.ts";

function tasksOf(count: number, answers: readonly string[], group?: (index: number) => string): Task[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    input: `task ${index}`,
    expected: answers[index % answers.length] ?? "",
    ...(group ? { group: group(index) } : {}),
  }));
}

const countOf = (tasks: readonly Task[], answer: string) =>
  tasks.filter(({ expected }) => expected === answer).length;
const idsOf = (splits: Splits) => Object.values(splits).map((tasks) => tasks.map(({ id }) => id));

test("splits have the asked sizes and equal shares of each answer", () => {
  const unbalanced = [
    ...tasksOf(300, ["a"]),
    ...tasksOf(60, ["b"]).map((task) => ({ ...task, id: `b${task.id}` })),
  ];
  const splits = drawSplits(unbalanced, { evolve: 50, gate: 40, test: 11 }, 1);
  expect([splits.evolve.length, splits.gate.length, splits.test.length]).toEqual([50, 40, 11]);
  expect([countOf(splits.evolve, "b"), countOf(splits.gate, "b")]).toEqual([25, 20]);
  expect([5, 6]).toContain(countOf(splits.test, "b"));
});

test("an answer that runs out is made up for by others", () => {
  const tasks = [...tasksOf(40, ["a"]), ...tasksOf(4, ["b"]).map((task) => ({ ...task, id: `b${task.id}` }))];
  const splits = drawSplits(tasks, { evolve: 20, gate: 20, test: 0 }, 1);
  expect(countOf(splits.evolve, "b") + countOf(splits.gate, "b")).toBe(4);
});

test("the seed decides, the order of the tasks does not", () => {
  const tasks = tasksOf(60, ["a", "b"]);
  const sizes = { evolve: 10, gate: 10, test: 10 };
  expect(idsOf(drawSplits(tasks, sizes, 7))).toEqual(idsOf(drawSplits([...tasks].reverse(), sizes, 7)));
  expect(idsOf(drawSplits(tasks, sizes, 7))).not.toEqual(idsOf(drawSplits(tasks, sizes, 8)));
});

test("too few tasks is an error with the numbers", () => {
  const draw = () => drawSplits(tasksOf(25, ["x"]), { evolve: 10, gate: 10, test: 10 }, 1);
  expect(draw).toThrow(LorimerError);
  expect(draw).toThrow(/25 tasks in 25 groups do not fill evolve 10, gate 10, test 10/);
});

test("a group never spans two splits, and no task is drawn twice", () => {
  const input = fc.record({
    seed: fc.integer(),
    groups: fc.integer({ min: 3, max: 40 }),
    answers: fc.constantFrom(["a", "b"], ["a", "b", "c"], ["a"]),
    size: fc.integer({ min: 1, max: 15 }),
  });
  fc.assert(
    fc.property(input, ({ seed, groups, answers, size }) => {
      const tasks = tasksOf(60, answers, (index) => `g${(index * 7) % groups}`);
      let splits: Splits;
      try {
        splits = drawSplits(tasks, { evolve: size, gate: size, test: size }, seed);
      } catch (error) {
        expect(error).toBeInstanceOf(LorimerError);
        return;
      }
      const lists = Object.values(splits);
      expect(lists.map((list) => list.length)).toEqual([size, size, size]);
      const drawn = lists.flat();
      expect(new Set(drawn.map(({ id }) => id)).size).toBe(drawn.length);
      const homes = lists.map((list) => new Set(list.map(({ group }) => group)));
      expect(new Set(homes.flatMap((home) => [...home])).size).toBe(
        homes.reduce((sum, home) => sum + home.size, 0),
      );
    }),
  );
});
