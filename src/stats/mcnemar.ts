/** log(n!), summed: exact enough (1e-12 relative) for any number of tasks. */
function logFactorial(n: number): number {
  let sum = 0;
  for (let factor = 2; factor <= n; factor++) sum += Math.log(factor);
  return sum;
}

/** P(X ≥ `atLeast`) for X ~ Binomial(`trials`, ½), summed in log space so that no term over- or underflows. */
export function fairBinomialTail(atLeast: number, trials: number): number {
  if (atLeast <= 0) return 1;
  if (atLeast > trials) return 0;
  let logTerm =
    logFactorial(trials) - logFactorial(atLeast) - logFactorial(trials - atLeast) - trials * Math.LN2;
  let sum = 0;
  for (let count = atLeast; count <= trials; count++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((trials - count) / (count + 1));
  }
  return Math.min(1, sum);
}

/**
 * The exact one-sided McNemar test: the chance of at least `gains` among `gains + losses` discordant pairs when
 * either way is equally likely. 1 when there are none.
 */
export function mcnemarPValue(gains: number, losses: number): number {
  return fairBinomialTail(gains, gains + losses);
}
