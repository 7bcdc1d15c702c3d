import { pairedEstimate } from "./intervals.ts";
import { mcnemarPValue } from "./mcnemar.ts";
import { mean } from "./moments.ts";
import type { Verdict } from "./verdict.ts";

export interface DeterministicVerdict extends Verdict {
  decision: "accept" | "reject";
  gains: number;
  losses: number;
  /** Exact one-sided McNemar p; only where there are losses to weigh. */
  p?: number;
}

/**
 * The verdict where a repeat would give the same scores (a deterministic model): one difference per task is all the
 * data there is. A gain without a loss accepts; with losses the gains must outnumber them by an exact McNemar test
 * over tasks at `alpha`; a net effect ≤ 0 rejects.
 */
export function deterministicVerdict(differences: readonly number[], alpha: number): DeterministicVerdict {
  const gains = differences.filter((difference) => difference > 0).length;
  const losses = differences.filter((difference) => difference < 0).length;
  const effect = mean(differences);
  const { onSuite: interval } = pairedEstimate([differences]);
  const facts = { effect, interval, n: differences.length, passes: 1, gains, losses };
  if (effect <= 0) {
    return { ...facts, decision: "reject", reason: `no net gain: ${gains} tasks gained, ${losses} lost` };
  }
  if (losses === 0) {
    return {
      ...facts,
      decision: "accept",
      reason: `${gains} tasks gained, none lost, and repeats cannot differ`,
    };
  }
  const p = mcnemarPValue(gains, losses);
  const better = p <= alpha;
  const reason = `${gains} tasks gained, ${losses} lost: exact p ${p.toPrecision(2)} ${better ? "≤" : ">"} α ${alpha.toPrecision(2)}`;
  return { ...facts, p, decision: better ? "accept" : "reject", reason };
}
