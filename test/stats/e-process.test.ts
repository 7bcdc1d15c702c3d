import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/lib/random.ts";
import { confirmationVerdict, eValue } from "../../src/stats/e-process.ts";
import { realisticRates, shifted, simulate } from "./simulate.ts";

const difference = fc.constantFrom<number[]>(-1, -0.5, 0, 0.25, 1);
const passes = fc
  .integer({ min: 1, max: 12 })
  .chain((tasks) =>
    fc.array(fc.array(difference, { minLength: tasks, maxLength: tasks }), { minLength: 1, maxLength: 5 }),
  );

function share(count: number, holds: (index: number) => boolean): number {
  return Array.from({ length: count }, (_, index) => index).filter(holds).length / count;
}

describe("the e-value", () => {
  test("is the mean wealth of the three bets", () => {
    const [a, b, c] = [1.2 ** 2 * 0.8, 1.35 ** 2 * 0.65, 1.5 ** 2 * 0.5];
    expect(eValue([[1, 1, -1]]).e).toBeCloseTo((a + b + c) / 3, 12);
  });

  test("of unchanged pairs is 1", () => {
    expect(eValue([[0, 0, 0]])).toEqual({ e: 1, logE: 0 });
  });

  test("never overflows", () => {
    const { e, logE } = eValue(Array.from({ length: 20 }, () => Array<number>(5000).fill(1)));
    expect(e).toBe(Number.MAX_VALUE);
    expect(logE).toBeGreaterThan(30_000);
  });

  test("does not depend on the order of tasks or passes, and is at most 1 without a net gain", () => {
    fc.assert(
      fc.property(passes, (rows) => {
        const { logE } = eValue(rows);
        expect(eValue(rows.map((row) => row.toReversed()).reverse()).logE).toBeCloseTo(logE, 9);
        const net = rows.flat().reduce((sum, value) => sum + value, 0);
        if (net <= 0) expect(logE).toBeLessThanOrEqual(1e-12);
      }),
    );
  });
});

describe("a confirmation", () => {
  test("accepts a large gain in one pass", () => {
    const verdict = confirmationVerdict({ passes: [Array<number>(20).fill(1)], alpha: 0.01, maxPasses: 6 });
    expect(verdict).toMatchObject({ decision: "accept", effect: 1, passes: 1, n: 20, threshold: 100 });
    expect(verdict.interval.high).toBe(1);
    expect(verdict.interval.low).toBeGreaterThan(0.7);
  });

  test("rejects a candidate that changes nothing in one pass", () => {
    expect(confirmationVerdict({ passes: [[0, 0, 0, 0]], alpha: 0.05, maxPasses: 6 }).decision).toBe(
      "reject",
    );
  });

  const gain = [1, 0, 1, 0, -1, 1, 0, 0, 1, 0];

  test("asks for another pass, and at the cap is indecisive", () => {
    const ask = (rows: number[][]) =>
      confirmationVerdict({ passes: rows, alpha: 1e-6, maxPasses: 3 }).decision;
    expect([ask([gain]), ask([gain, gain]), ask([gain, gain, gain])]).toEqual([
      "continue",
      "continue",
      "indecisive",
    ]);
  });

  test("at the cap rejects what has no net gain", () => {
    const noisy = [1, -1, 1, -1];
    const verdict = confirmationVerdict({ passes: [noisy], alpha: 0.05, maxPasses: 1 });
    expect(verdict).toMatchObject({ decision: "reject", effect: 0 });
  });

  test("never accepts without a net gain, and states an interval that holds the effect", () => {
    fc.assert(
      fc.property(passes, fc.double({ min: 0.001, max: 0.5, noNaN: true }), (rows, alpha) => {
        const verdict = confirmationVerdict({ passes: rows, alpha, maxPasses: 5 });
        if (verdict.effect <= 0) expect(verdict.decision).not.toBe("accept");
        expect(verdict.interval.low).toBeLessThanOrEqual(verdict.effect);
        expect(verdict.interval.high).toBeGreaterThanOrEqual(verdict.effect);
        expect(verdict.interval.high - verdict.interval.low).toBeGreaterThan(0);
      }),
    );
  });

  test.each([
    ["no pass", []],
    ["an empty pass", [[]]],
    ["ragged passes", [[0, 1], [0]]],
    ["no number", [[Number.NaN]]],
    ["more than a whole score", [[1.5]]],
  ])("refuses %s", (_name, rows) => {
    expect(() => confirmationVerdict({ passes: rows, alpha: 0.05, maxPasses: 3 })).toThrow(RangeError);
  });
});

describe.each([50, 100])("operating characteristics with %i tasks", (tasks) => {
  const alpha = 0.06;
  function acceptRate(effect: number, simulations: number): number {
    const random = seededRandom("operating characteristics", tasks, String(effect));
    return share(simulations, () => {
      const champion = realisticRates(tasks, random);
      const candidate = shifted(champion, effect);
      return simulate({ champion, candidate, alpha, maxPasses: 6 }, random).decision === "accept";
    });
  }

  test("accepts no better candidates rarely", () => {
    expect(acceptRate(0, 300)).toBeLessThanOrEqual(alpha);
    expect(acceptRate(-0.05, 200)).toBeLessThanOrEqual(0.01);
  });

  test("accepts good ones mostly", () => {
    expect(acceptRate(0.1, 200)).toBeGreaterThan(0.6);
    expect(acceptRate(0.25, 100)).toBeGreaterThan(0.97);
  });
});
