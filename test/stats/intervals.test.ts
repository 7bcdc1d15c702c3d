import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/lib/random.ts";
import {
  differenceEstimate,
  type Estimate,
  pairedEstimate,
  scoreEstimate,
  wilsonInterval,
} from "../../src/stats/intervals.ts";
import { mean } from "../../src/stats/moments.ts";
import { detectableEffect } from "../../src/stats/power.ts";
import { normalCdf, normalQuantile, studentCdf, studentQuantile } from "../../src/stats/quantiles.ts";
import { realisticRates, shifted } from "./simulate.ts";

describe("quantiles", () => {
  test("agree with the printed tables", () => {
    expect(normalQuantile(0.975)).toBeCloseTo(1.959964, 6);
    expect(normalQuantile(0.0001)).toBeCloseTo(-3.719016, 6);
    // Two-sided 95 % points of Student's t for 1, 2, 5, 10, 30 and 120 degrees of freedom.
    const printed = [12.706, 4.303, 2.571, 2.228, 2.042, 1.98];
    const computed = [1, 2, 5, 10, 30, 120].map((degrees) => studentQuantile(0.975, degrees));
    for (const [index, value] of computed.entries()) expect(value).toBeCloseTo(printed[index] as number, 3);
  });

  test("rise from 0 to 1", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -9, max: 9, noNaN: true }),
        fc.integer({ min: 1, max: 200 }),
        (x, degrees) => {
          expect(normalCdf(x) + normalCdf(-x)).toBeCloseTo(1, 12);
          expect(studentCdf(x, degrees) + studentCdf(-x, degrees)).toBeCloseTo(1, 12);
          expect(studentCdf(x + 0.1, degrees)).toBeGreaterThan(studentCdf(x, degrees) - 1e-12);
        },
      ),
    );
  });
});

describe("Wilson's interval", () => {
  // Newcombe 1998, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, table I.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("of %i in %i is the published one", (successes, trials, low, high) => {
    const interval = wilsonInterval(successes, trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test("of nothing is everything", () => {
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
    expect(wilsonInterval(7, 7).high).toBe(1);
  });
});

function holds(estimate: Estimate, floor: number): void {
  for (const { low, high } of [estimate.onSuite, estimate.onNewTasks]) {
    expect(low).toBeGreaterThanOrEqual(floor);
    expect(high).toBeLessThanOrEqual(1);
    expect(low).toBeLessThanOrEqual(estimate.mean);
    expect(high).toBeGreaterThanOrEqual(estimate.mean);
    expect(high - low).toBeGreaterThan(0.001);
  }
}

describe("estimates", () => {
  const score = fc.constantFrom(0, 1, 0.5);
  const arms = fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
    .chain(([tasks, first, second]) => {
      const row = fc.array(score, { minLength: tasks, maxLength: tasks });
      return fc.tuple(
        fc.array(row, { minLength: first, maxLength: first }),
        fc.array(row, { minLength: second, maxLength: second }),
      );
    });

  test("have a width and stay on the scale, whatever the scores", () => {
    fc.assert(
      fc.property(arms, ([candidate, champion]) => {
        holds(scoreEstimate(candidate), 0);
        holds(differenceEstimate(candidate, champion), -1);
      }),
    );
  });

  test("at floor and ceiling come near Wilson's", () => {
    const { onSuite, onNewTasks } = scoreEstimate([Array<number>(60).fill(1)]);
    for (const { low, high } of [onSuite, onNewTasks]) {
      expect(high).toBe(1);
      expect(low).toBeGreaterThan(0.9);
      expect(low).toBeLessThan(wilsonInterval(60, 60).low);
    }
  });

  test("tell what varies within tasks from what varies between them", () => {
    const sure = [...Array<number>(25).fill(0), ...Array<number>(25).fill(1)];
    const { onSuite, onNewTasks } = scoreEstimate([sure, sure, sure, sure]);
    expect(onSuite.high - onSuite.low).toBeLessThan(0.05);
    expect(onNewTasks.high - onNewTasks.low).toBeGreaterThan(0.25);
  });

  test("cover the truth as often as they say", () => {
    const random = seededRandom("coverage");
    const arm = (rates: number[]) =>
      Array.from({ length: 3 }, () => rates.map((rate) => (random() < rate ? 1 : 0)));
    const covered = { score: 0, new: 0, paired: 0, difference: 0 };
    const inside = ({ low, high }: { low: number; high: number }, truth: number) =>
      Number(low <= truth && truth <= high);
    for (let simulation = 0; simulation < 400; simulation++) {
      const rates = realisticRates(40, random);
      const better = shifted(rates, 0.1);
      const [champion, candidate] = [arm(rates), arm(better)];
      const differences = candidate.map((row, pass) =>
        row.map((value, task) => value - (champion[pass]?.[task] ?? 0)),
      );
      covered.score += inside(scoreEstimate(champion).onSuite, mean(rates));
      covered.new += inside(scoreEstimate(champion).onNewTasks, 0.5);
      covered.paired += inside(pairedEstimate(differences).onSuite, 0.1);
      covered.difference += inside(differenceEstimate(candidate, champion).onSuite, 0.1);
    }
    for (const count of Object.values(covered)) expect(count / 400).toBeGreaterThan(0.92);
  });

  test("refuse arms over different tasks", () => {
    expect(() => differenceEstimate([[1, 0]], [[1]])).toThrow(RangeError);
  });
});

describe("the detectable effect", () => {
  const study = { tasks: 50, passes: 6, alpha: 0.01, power: 0.8, baseRate: 0.5 };

  test("is that of the normal approximation", () => {
    const effect = detectableEffect(study) ?? 0;
    const rate = 0.5 + effect;
    const standardError = Math.sqrt((0.25 + rate * (1 - rate)) / 300);
    expect(effect / standardError).toBeCloseTo(2.3263 + 0.8416, 3);
  });

  test("shrinks with more passes and with less variance within tasks", () => {
    const effect = detectableEffect(study) ?? 0;
    expect(detectableEffect({ ...study, passes: 12 })).toBeLessThan(effect);
    expect(detectableEffect({ ...study, withinShare: 0.5 })).toBeLessThan(effect);
  });

  test("is undefined where nothing could be seen", () => {
    expect(detectableEffect({ ...study, baseRate: 1 })).toBeUndefined();
    expect(detectableEffect({ ...study, tasks: 2, passes: 1, baseRate: 0.8 })).toBeUndefined();
  });
});
