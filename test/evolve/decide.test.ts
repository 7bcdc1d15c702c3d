import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ArmScores, decide, screenVerdict, withoutGaps } from "../../src/evolve/decide.ts";
import { seededRandom } from "../../src/lib/random.ts";

const repeated = (row: readonly (number | null)[], passes: number): ArmScores =>
  Array.from({ length: passes }, () => row);

/** `count` ones, then zeros. */
const ones = (count: number, of: number) => Array.from({ length: of }, (_, task) => Number(task < count));

describe("a confirmation", () => {
  test("of three tasks with +0.111 is indecisive at its cap, and asks for more before it", () => {
    // Tasks a, b, c by pass.
    const champion = [
      [1, 0, 1],
      [0, 0, 1],
      [1, 0, 1],
    ];
    const candidate = [
      [1, 0, 1],
      [1, 1, 1],
      [1, 0, 0],
    ];
    const verdict = decide({ champion, candidate, alpha: 0.1, maxPasses: 3 });
    expect(verdict.decision).toBe("indecisive");
    expect(verdict.effect).toBeCloseTo(1 / 9, 10);
    expect(decide({ champion, candidate, alpha: 0.1, maxPasses: 4 }).decision).toBe("continue");
  });

  test.each([
    [94, "indecisive"],
    [95, "accept"],
  ])("with %d of 100 scores in both arms is %s", (covered, decision) => {
    const candidate = Array.from({ length: 100 }, (_, task) => (task < covered ? 1 : null));
    const verdict = decide({
      champion: repeated(ones(0, 100), 1),
      candidate: [candidate],
      alpha: 0.06,
      maxPasses: 8,
    });
    expect(verdict.decision).toBe(decision);
  });

  test("counts a score that only one arm has as covered by neither", () => {
    const champion = [ones(0, 20).map((score, task) => (task < 1 ? null : score))];
    const candidate = [ones(20, 20).map((score, task) => (task > 18 ? null : score))];
    const verdict = decide({ champion, candidate, alpha: 0.06, maxPasses: 8 });
    expect(verdict).toMatchObject({ decision: "indecisive", reason: expect.stringContaining("90 %") });
  });

  test("takes a missing score for no evidence, neither gain nor loss", () => {
    const full = decide({
      champion: [ones(5, 40)],
      candidate: [ones(9, 40)],
      alpha: 0.001,
      maxPasses: 8,
    });
    const gap = decide({
      champion: [[...ones(5, 40), null]],
      candidate: [[...ones(9, 40), 1]],
      alpha: 0.001,
      maxPasses: 8,
    });
    expect(gap).toMatchObject({ e: (full as unknown as { e: number }).e });
  });

  test("without any pass decides nothing", () => {
    expect(decide({ champion: [], candidate: [], alpha: 0.1, maxPasses: 8 }).decision).toBe("indecisive");
  });
});

describe("a deterministic model", () => {
  const upTo = (passes: number, champion: number[], candidate: number[], alpha = 0.06) =>
    decide({
      champion: repeated(champion, passes),
      candidate: repeated(candidate, passes),
      alpha,
      maxPasses: 8,
    });

  test("gains one task of a hundred, none is lost: accepted, once passes enough show that it is deterministic", () => {
    const verdicts = [1, 2, 3].map((passes) => upTo(passes, ones(50, 100), ones(51, 100)).decision);
    expect(verdicts).toEqual(["continue", "continue", "accept"]);
    expect(upTo(3, ones(50, 100), ones(51, 100), 0.005).decision).toBe("continue");
    expect(upTo(4, ones(50, 100), ones(51, 100), 0.005).decision).toBe("accept");
  });

  test("loses as much as it gains, or changes nothing: rejected at once", () => {
    expect(upTo(1, ones(50, 100), ones(50, 100)).decision).toBe("reject");
    expect(upTo(1, ones(1, 2), ones(1, 2).reverse()).decision).not.toBe("accept");
    expect(upTo(3, ones(1, 2), ones(1, 2).reverse()).decision).toBe("reject");
  });

  test("a score that is missing once makes no variance of it", () => {
    const champion = repeated(ones(50, 100), 3);
    const candidate = [ones(51, 100), [...ones(51, 100).slice(0, 99), null], ones(51, 100)];
    expect(decide({ champion, candidate, alpha: 0.06, maxPasses: 8 }).decision).toBe("accept");
  });

  test("a model that is noisy on one task only is rarely taken for one", () => {
    const runs = 1000;
    let accepted = 0;
    for (let seed = 0; seed < runs; seed++) {
      const random = seededRandom("noisy", seed);
      const rows = { champion: [] as number[][], candidate: [] as number[][] };
      for (let decision = "continue"; decision === "continue"; ) {
        for (const arm of [rows.champion, rows.candidate])
          arm.push([...ones(10, 20), Number(random() < 0.5)]);
        ({ decision } = decide({ ...rows, alpha: 0.02, maxPasses: 8 }));
        if (decision === "accept") accepted++;
      }
    }
    expect(accepted / runs).toBeLessThan(0.02);
  });
});

describe("whatever the scores", () => {
  const arms = fc
    .record({
      tasks: fc.integer({ min: 1, max: 12 }),
      passes: fc.integer({ min: 1, max: 4 }),
      seed: fc.integer(),
      holes: fc.constantFrom(0, 0.02),
    })
    .map(({ tasks, passes, seed, holes }) => {
      const random = seededRandom("arms", seed);
      const score = () => (random() < holes ? null : random() < 0.5 ? 0 : 1);
      const arm = () => Array.from({ length: passes }, () => Array.from({ length: tasks }, score));
      return { champion: arm(), candidate: arm(), order: Array.from({ length: tasks }, random) };
    });
  const setting = { alpha: 0.06, maxPasses: 4 };

  test("the order of the tasks makes no other verdict", () => {
    fc.assert(
      fc.property(arms, ({ champion, candidate, order }) => {
        const places = order.map((_, task) => task).sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0));
        const moved = (arm: ArmScores) => arm.map((row) => places.map((task) => row[task] ?? null));
        const before = decide({ champion, candidate, ...setting });
        const after = decide({ champion: moved(champion), candidate: moved(candidate), ...setting });
        expect(after.decision).toBe(before.decision);
        expect(after.effect).toBeCloseTo(before.effect, 12);
      }),
    );
  });

  test("a net effect of nothing or less is never accepted", () => {
    fc.assert(
      fc.property(arms, ({ champion, candidate }) => {
        const verdict = decide({ champion, candidate, ...setting });
        if (verdict.effect <= 0) expect(verdict.decision).not.toBe("accept");
      }),
    );
  });

  test("the same two arms the other way round are not both accepted", () => {
    fc.assert(
      fc.property(arms, ({ champion, candidate }) => {
        const there = decide({ champion, candidate, ...setting }).decision;
        const back = decide({ champion: candidate, candidate: champion, ...setting }).decision;
        expect([there, back]).not.toEqual(["accept", "accept"]);
      }),
    );
  });
});

describe("the screen", () => {
  test("kills what gains nothing on the tasks that its author saw, and nothing else", () => {
    expect(screenVerdict(repeated(ones(5, 10), 2), [ones(5, 10)]).passed).toBe(false);
    expect(screenVerdict(repeated(ones(5, 10), 2), [ones(4, 10)]).passed).toBe(false);
    expect(screenVerdict(repeated(ones(5, 10), 2), [ones(6, 10)]).passed).toBe(true);
  });

  test("compares only tasks that both arms have a score of", () => {
    // The champion's easy tasks are missing from the candidate: no loss, the rest gained.
    const candidate = [[null, null, null, null, null, 1, 0, 0, 0, 0]];
    const { passed, numbers } = screenVerdict([ones(5, 10)], candidate);
    expect(passed).toBe(true);
    expect(numbers).toMatchObject({ champion: 0, candidate: 0.2, tasks: 5 });
  });

  test("kills nothing for want of scores", () => {
    expect(screenVerdict([ones(5, 10)], [Array.from({ length: 10 }, () => null)]).passed).toBe(true);
    expect(screenVerdict([], [ones(5, 10)]).passed).toBe(true);
  });
});

test("a gap is closed with the mean of its task's other passes; a task without any score is left out", () => {
  expect(
    withoutGaps([
      [1, null, null],
      [0, 0.5, null],
      [null, 0.5, null],
    ]),
  ).toEqual([
    [1, 0.5],
    [0, 0.5],
    [0.5, 0.5],
  ]);
});
