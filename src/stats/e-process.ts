import { type Interval, pairedEstimate } from "./intervals.ts";
import { mean, type Passes, suiteStandardError, tasksOf } from "./moments.ts";
import type { Verdict } from "./verdict.ts";

/** Shares of the wealth staked on each pair; three bets cover small, middling and large effects. */
export const stakes = [0.2, 0.35, 0.5] as const;

/**
 * The flat futility stop: reject when effect < worthwhile − margin·SE. `worthwhile` is a gain that is too small to
 * pay for its confirmation; the margin keeps a real gain alive while the standard error is still large.
 */
export const futility = { worthwhile: 0.07, margin: 0.9 } as const;

export interface EValue {
  /** Evidence against "the candidate is no better"; capped at the largest finite number. */
  e: number;
  /** Natural logarithm of the uncapped value. */
  logE: number;
}

/**
 * The e-value of full passes of differences D = candidate − champion in [−1, 1]. Each bet λ multiplies its wealth by
 * ∏(1 + λ·Dᵢ) over a pass; E is the mean wealth. With tasks fixed and their mean difference ≤ 0 the expected factor of
 * a whole pass is ∏(1 + λδᵢ) ≤ (1 + λ·mean δ)ⁿ ≤ 1, so P(E ever reaches 1/α) ≤ α (Ville) at the ends of passes, and
 * there only: within a pass the order of the tasks could be in a candidate's favour.
 */
export function eValue(passes: Passes): EValue {
  const logWealth = stakes.map((stake) =>
    passes.reduce(
      (sum, pass) => sum + pass.reduce((log, difference) => log + Math.log1p(stake * difference), 0),
      0,
    ),
  );
  const largest = Math.max(...logWealth);
  const logE = largest + Math.log(mean(logWealth.map((log) => Math.exp(log - largest))));
  return { e: Math.min(Number.MAX_VALUE, Math.exp(logE)), logE };
}

export interface Confirmation {
  /** Differences candidate − champion in [−1, 1]: a row a full pass, a column a task. */
  passes: Passes;
  /** Error rate of this confirmation. */
  alpha: number;
  /** Passes after which the answer is `indecisive`. */
  maxPasses: number;
}

export interface ConfirmationVerdict extends Verdict {
  e: number;
  logE: number;
  /** `e` from which the candidate is accepted, 1/α. */
  threshold: number;
}

/**
 * The sequential test of a candidate against the champion, asked after each full pass: accept when E ≥ 1/α, reject by
 * the flat futility stop, at the cap `indecisive` (or `reject` when the net effect is ≤ 0). A net effect ≤ 0 is never
 * accepted: E ≤ 1 there. The interval is that of the passes so far.
 *
 * Operating characteristics, 1,000 simulated confirmations each on suites with 30 % nearly hopeless and 30 % nearly
 * sure tasks; accept rate, mean rollouts of both arms (test/stats/simulate.ts):
 *
 * | tasks, α, cap | no effect | −.05 | +.05 | +.10 | +.20 |
 * |---|---|---|---|---|---|
 * | 50, .01, 16 | .001, 185 | 0, 125 | .22, 471 | .83, 498 | .99, 230 |
 * | 50, .01, 6 | .005, 184 | 0, 123 | .09, 353 | .57, 416 | 1.00, 231 |
 * | 50, .06, 6 | .018, 184 | 0, 127 | .25, 296 | .76, 311 | 1.00, 165 |
 * | 100, .01, 16 | .001, 277 | 0, 212 | .25, 603 | .89, 600 | 1.00, 270 |
 * | 100, .01, 6 | .003, 279 | 0, 215 | .23, 577 | .86, 578 | 1.00, 268 |
 * | 100, .06, 6 | .018, 273 | 0, 211 | .36, 461 | .91, 415 | 1.00, 222 |
 *
 * Throws a RangeError when passes are ragged, empty, or outside [−1, 1].
 */
export function confirmationVerdict({ passes, alpha, maxPasses }: Confirmation): ConfirmationVerdict {
  const n = tasksOf(passes);
  if (passes.some((pass) => pass.some((difference) => Math.abs(difference) > 1))) {
    throw new RangeError("a difference of scores lies outside [-1, 1]");
  }
  const { e, logE } = eValue(passes);
  const { mean: effect, onSuite: interval } = pairedEstimate(passes);
  const stop = futility.worthwhile - futility.margin * suiteStandardError(passes);
  const facts = { e, logE, threshold: 1 / alpha, effect, interval, passes: passes.length, n };
  if (logE >= -Math.log(alpha)) {
    return { ...facts, decision: "accept", reason: `E ${short(e)} ≥ 1/α ${short(1 / alpha)}` };
  }
  if (effect < stop) {
    return { ...facts, decision: "reject", reason: `futile: effect ${signed(effect)} < ${signed(stop)}` };
  }
  if (passes.length < maxPasses) {
    return {
      ...facts,
      decision: "continue",
      reason: `E ${short(e)} < 1/α ${short(1 / alpha)}: another pass`,
    };
  }
  if (effect <= 0) {
    return {
      ...facts,
      decision: "reject",
      reason: `no net gain (${signed(effect)}) after ${passes.length} passes`,
    };
  }
  return {
    ...facts,
    decision: "indecisive",
    reason: `${within(interval)} and E ${short(e)} after ${passes.length} passes`,
  };
}

function short(value: number): string {
  return value.toPrecision(3);
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

function within({ low, high }: Interval): string {
  return `effect in [${signed(low)}, ${signed(high)}]`;
}
