import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { confirmationAlpha } from "../../src/stats/alpha-budget.ts";
import { deterministicVerdict } from "../../src/stats/deterministic.ts";
import { fairBinomialTail, mcnemarPValue } from "../../src/stats/mcnemar.ts";

describe("the error budget", () => {
  test("never adds up to more than the whole", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 3000 }),
        (total, count) => {
          let sum = 0;
          for (let k = 1; k <= count; k++) sum += confirmationAlpha(total, k);
          expect(sum).toBeLessThan(total);
          expect(sum).toBeGreaterThan(total * (1 - 1 / count) - 1e-9);
        },
      ),
    );
  });

  test("gives the first confirmation the most", () => {
    expect(confirmationAlpha(0.1, 1)).toBeCloseTo(0.060793, 6);
    expect(() => confirmationAlpha(0.1, 0)).toThrow(RangeError);
  });
});

describe("McNemar's exact test", () => {
  test("agrees with published values", () => {
    // R's exact2x2 vignette "Exact McNemar's Test and Matching Confidence Intervals" (Fay): 2 and 9, two-sided .06543.
    expect(2 * mcnemarPValue(9, 2)).toBeCloseTo(0.06543, 5);
    // The sign test's table (n = 10, S ≥ 9: .0107; n = 20, S ≥ 15: .0207), e.g. Conover, Practical Nonparametric
    // Statistics, table A3.
    expect(fairBinomialTail(9, 10)).toBeCloseTo(0.0107, 4);
    expect(fairBinomialTail(15, 20)).toBeCloseTo(0.0207, 4);
  });

  test("holds at both ends, also for very many pairs", () => {
    expect(mcnemarPValue(0, 0)).toBe(1);
    expect(mcnemarPValue(0, 5)).toBe(1);
    expect(mcnemarPValue(5, 0)).toBeCloseTo(1 / 32, 12);
    expect(mcnemarPValue(5000, 5000)).toBeCloseTo(0.504, 3);
    expect(mcnemarPValue(4000, 0)).toBe(0);
  });

  test("is a distribution: both tails add up to 1 plus the middle", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(200), (gains, losses) => {
        const trials = gains + losses;
        expect(fairBinomialTail(gains, trials) + fairBinomialTail(trials - gains + 1, trials)).toBeCloseTo(
          1,
          9,
        );
      }),
    );
  });
});

describe("the deterministic rule", () => {
  const verdictOf = (gains: number, losses: number, alpha = 0.05) =>
    deterministicVerdict([...Array(gains).fill(1), ...Array(losses).fill(-1), 0, 0], alpha);

  test("accepts a gain without a loss", () => {
    expect(verdictOf(1, 0)).toMatchObject({ decision: "accept", gains: 1, losses: 0 });
  });

  test("weighs losses by the exact test", () => {
    expect(verdictOf(9, 2)).toMatchObject({ decision: "accept" });
    expect(verdictOf(9, 2, 0.01)).toMatchObject({ decision: "reject" });
    expect(verdictOf(9, 2).p).toBeCloseTo(0.0327, 4);
  });

  test("rejects what has no net gain", () => {
    expect(verdictOf(0, 0).decision).toBe("reject");
    expect(verdictOf(3, 3, 0.9).decision).toBe("reject");
    expect(deterministicVerdict([0.1, 0.1, 0.1, -0.9], 0.9).decision).toBe("reject");
  });
});
