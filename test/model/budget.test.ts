import fc from "fast-check";
import pLimit from "p-limit";
import { describe, expect, test } from "vitest";
import { Budget, BudgetReached } from "../../src/model/budget.ts";

describe("a budget", () => {
  test("is refused past the rollouts", () => {
    const budget = new Budget({ rollouts: 2, usd: 0 });
    budget.reserve(0);
    budget.reserve(0);
    expect(() => budget.reserve(0)).toThrow(BudgetReached);
    expect(() => budget.reserve(0)).toThrow("the budget is reached: 2 rollouts");
    expect(budget.spent).toEqual({ rollouts: 2, usd: 0 });
  });

  test("is refused where the worst case would pass the money, and open again when it did not come", () => {
    const budget = new Budget({ rollouts: 10, usd: 1 });
    const first = budget.reserve(0.75);
    expect(() => budget.reserve(0.5)).toThrow("the budget is reached: $1");
    first.settle(0.25);
    budget.reserve(0.5).settle(0.5);
    expect(budget.spent).toEqual({ rollouts: 2, usd: 0.75 });
  });

  test("goes on from what was spent", () => {
    const budget = new Budget({ rollouts: 10, usd: 1 }, { rollouts: 9, usd: 0.5 });
    expect(() => budget.reserve(0.75)).toThrow(BudgetReached);
    budget.reserve(0.5);
    expect(() => budget.reserve(0)).toThrow(BudgetReached);
  });

  test("keeps an amount back until it is told to keep another", () => {
    const budget = new Budget({ rollouts: 3, usd: 1 });
    budget.keep({ rollouts: 2, usd: 0.75 });
    budget.reserve(0.25);
    expect(() => budget.reserve(0)).toThrow(BudgetReached);
    budget.keep({ rollouts: 0, usd: 0.5 });
    expect(() => budget.reserve(0.5)).toThrow(BudgetReached);
    budget.reserve(0.25);
  });

  test("takes one settlement a reservation", () => {
    const budget = new Budget({ rollouts: 10, usd: 1 });
    const reserved = budget.reserve(0.5);
    reserved.settle(0.25);
    reserved.settle(0.25);
    expect(budget.spent).toEqual({ rollouts: 1, usd: 0.25 });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("reserves no %d dollars", (usd) => {
    const budget = new Budget({ rollouts: 10, usd: 1 });
    expect(() => budget.reserve(usd)).toThrow(BudgetReached);
    expect(budget.spent).toEqual({ rollouts: 0, usd: 0 });
  });
});

test("however many rollouts run at once, it is never overshot, and refuses only what would overshoot it", async () => {
  // Sixty-fourths are exact in binary, so that sums can be compared.
  const rollout = fc.record({
    worst: fc.integer({ min: 0, max: 64 }).map((parts) => parts / 64),
    share: fc.integer({ min: 0, max: 4 }).map((parts) => parts / 4),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(rollout, { maxLength: 40 }),
      fc.record({ rollouts: fc.integer({ min: 0, max: 30 }), usd: fc.integer({ min: 0, max: 6 }) }),
      async (scheduler, rollouts, caps) => {
        const budget = new Budget(caps);
        const limit = pLimit(32);
        let paid = 0;
        let done = 0;
        let refused = 0;
        const runs = rollouts.map(({ worst, share }) =>
          limit(async () => {
            let reserved: ReturnType<Budget["reserve"]>;
            const { spent } = budget;
            try {
              reserved = budget.reserve(worst);
            } catch (error) {
              expect(error).toBeInstanceOf(BudgetReached);
              expect(spent.rollouts + 1 > caps.rollouts || spent.usd + worst > caps.usd).toBe(true);
              refused++;
              return;
            }
            await scheduler.schedule(Promise.resolve());
            paid += worst * share;
            done++;
            reserved.settle(worst * share);
            expect(paid).toBeLessThanOrEqual(caps.usd);
          }),
        );
        await scheduler.waitFor(Promise.all(runs));
        expect(budget.spent).toEqual({ rollouts: done, usd: paid });
        expect(done).toBeLessThanOrEqual(caps.rollouts);
        expect(done + refused).toBe(rollouts.length);
      },
    ),
  );
});
