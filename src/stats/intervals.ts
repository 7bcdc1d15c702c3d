import { byTask, mean, type Passes, squares, tasksOf, withinTaskSpread } from "./moments.ts";
import { normalQuantile, studentQuantile } from "./quantiles.ts";

export interface Interval {
  low: number;
  high: number;
}

/** An estimate with its two intervals: where it holds for the suite's own tasks, and for new tasks like these. */
export interface Estimate {
  mean: number;
  /** Tasks fixed: only the spread between passes of the same task counts. For decisions. */
  onSuite: Interval;
  /** Tasks as a sample: the spread between tasks counts. For what is published. */
  onNewTasks: Interval;
  tasks: number;
  passes: number;
}

const defaultConfidence = 0.95;

/** Wilson's score interval of a share (Wilson 1927). No trials: [0, 1]. */
export function wilsonInterval(successes: number, trials: number, confidence = defaultConfidence): Interval {
  if (trials === 0) return { low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const share = successes / trials;
  const shrink = 1 + z ** 2 / trials;
  const centre = (share + z ** 2 / (2 * trials)) / shrink;
  const half = (z * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2))) / shrink;
  return { low: successes === 0 ? 0 : centre - half, high: successes === trials ? 1 : centre + half };
}

/**
 * Observations added before an interval is formed, so that a score at its floor or ceiling still has a width:
 * two of each end for a score (Agresti & Coull 1998), one of each end for a paired difference (Bonett & Price 2012),
 * one of each end on either arm for two arms (Agresti & Caffo 2000).
 */
const added = { score: [0, 0, 1, 1], pairs: [-1, 1], arm: [0, 1] } as const;

interface Adjusted {
  centre: number;
  /** Squared standard error of `centre`. */
  variance: number;
  degrees: number;
}

/** Adds `extra` observations to `count` ones of the given mean and within variance. */
function adjust(
  average: number,
  {
    count,
    variance,
    degrees,
    extra,
  }: { count: number; variance: number; degrees: number; extra: readonly number[] },
): Adjusted {
  const total = count + extra.length;
  const centre = (count * average + extra.reduce((sum, value) => sum + value, 0)) / total;
  const extraSquares = extra.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return {
    centre,
    variance: (count * variance + extraSquares) / total ** 2,
    degrees: degrees + extra.length - 1,
  };
}

function onSuite(passes: Passes, extra: readonly number[]): Adjusted {
  const { squares: sum, degrees } = withinTaskSpread(passes);
  const count = passes.length * tasksOf(passes);
  return adjust(mean(passes.flat()), { count, variance: sum / degrees, degrees, extra });
}

function onNewTasks(taskMeans: readonly number[], extra: readonly number[]): Adjusted {
  const degrees = Math.max(1, taskMeans.length - 1);
  return adjust(mean(taskMeans), {
    count: taskMeans.length,
    variance: squares(taskMeans) / degrees,
    degrees,
    extra,
  });
}

/** Student's interval round the adjusted centre, cut to the scale and widened to hold the estimate itself. */
function intervalOf(
  parts: Adjusted,
  estimate: number,
  { confidence, floor }: { confidence: number; floor: number },
): Interval {
  const half = studentQuantile((1 + confidence) / 2, parts.degrees) * Math.sqrt(parts.variance);
  return {
    low: Math.min(estimate, Math.max(floor, parts.centre - half)),
    high: Math.max(estimate, Math.min(1, parts.centre + half)),
  };
}

function estimateOf(
  passes: Passes,
  extra: readonly number[],
  scale: { confidence: number; floor: number },
): Estimate {
  const average = mean(passes.flat());
  return {
    mean: average,
    onSuite: intervalOf(onSuite(passes, extra), average, scale),
    onNewTasks: intervalOf(onNewTasks(byTask(passes).map(mean), extra), average, scale),
    tasks: tasksOf(passes),
    passes: passes.length,
  };
}

/** A score in [0, 1] of one arm, with both intervals. */
export function scoreEstimate(passes: Passes, confidence = defaultConfidence): Estimate {
  return estimateOf(passes, added.score, { confidence, floor: 0 });
}

/** The mean of differences in [−1, 1] that were taken pass by pass and task by task, with both intervals. */
export function pairedEstimate(differences: Passes, confidence = defaultConfidence): Estimate {
  return estimateOf(differences, added.pairs, { confidence, floor: -1 });
}

/**
 * `candidate − champion` of two arms over the same tasks, in the same order; the arms may differ in passes.
 * `passes` is that of the arm with fewer.
 */
export function differenceEstimate(
  candidate: Passes,
  champion: Passes,
  confidence = defaultConfidence,
): Estimate {
  const tasks = tasksOf(candidate);
  if (tasksOf(champion) !== tasks) throw new RangeError("the two arms do not cover the same tasks");
  const average = mean(candidate.flat()) - mean(champion.flat());
  const [first, second] = [onSuite(candidate, added.arm), onSuite(champion, added.arm)];
  const suite: Adjusted = {
    centre: first.centre - second.centre,
    variance: first.variance + second.variance,
    degrees: Math.min(first.degrees, second.degrees),
  };
  const championMeans = byTask(champion).map(mean);
  const taskMeans = byTask(candidate).map((values, task) => mean(values) - (championMeans[task] as number));
  const scale = { confidence, floor: -1 };
  return {
    mean: average,
    onSuite: intervalOf(suite, average, scale),
    onNewTasks: intervalOf(onNewTasks(taskMeans, added.pairs), average, scale),
    tasks,
    passes: Math.min(candidate.length, champion.length),
  };
}
