import { normalQuantile } from "./quantiles.ts";

export interface Study {
  tasks: number;
  /** Passes of each arm. */
  passes: number;
  /** One-sided error rate. */
  alpha: number;
  /** Wanted chance of seeing the effect. */
  power: number;
  /** The champion's pass rate. */
  baseRate: number;
  /**
   * Share of a score's variance that lies within tasks (the rest is tasks that always pass or always fail).
   * Default 1: tasks all alike, the worst case.
   */
  withinShare?: number;
}

/**
 * The smallest gain in pass rate that a fixed-size comparison of two arms would see, by the normal approximation
 * Δ = (z₁₋α + z_power)·SE(Δ); undefined when not even a perfect candidate would be seen. An approximation for
 * planning: a sequential test with early stopping needs somewhat more on winners and much less on the rest.
 */
export function detectableEffect(study: Study): number | undefined {
  const { tasks, passes, alpha, power, baseRate, withinShare = 1 } = study;
  const quantiles = normalQuantile(1 - alpha) + normalQuantile(power);
  const standardError = (effect: number): number => {
    const rate = baseRate + effect;
    const variance = baseRate * (1 - baseRate) + rate * (1 - rate);
    return Math.sqrt((withinShare * Math.max(0, variance)) / (tasks * passes));
  };
  const seen = (effect: number): boolean => effect >= quantiles * standardError(effect);
  const largest = 1 - baseRate;
  if (largest <= 0 || !seen(largest)) return undefined;
  let low = 0;
  let high = largest;
  for (let halving = 0; halving < 50; halving++) {
    const middle = (low + high) / 2;
    if (seen(middle)) high = middle;
    else low = middle;
  }
  return high;
}
