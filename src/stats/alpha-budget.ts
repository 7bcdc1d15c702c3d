/**
 * The error rate of the `k`-th confirmation of a run (k = 1, 2, …): total·6/(π²k²). However many confirmations there
 * are, they add up to no more than `total`, so a run accepts any candidate that is no better with at most that chance.
 */
export function confirmationAlpha(total: number, k: number): number {
  if (!Number.isInteger(k) || k < 1) throw new RangeError(`confirmations are counted from 1, not ${k}`);
  return (total * 6) / (Math.PI * k) ** 2;
}
