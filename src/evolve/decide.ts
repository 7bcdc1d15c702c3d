import { deterministicVerdict } from "../stats/deterministic.ts";
import { confirmationVerdict } from "../stats/e-process.ts";
import { scoreEstimate } from "../stats/intervals.ts";
import type { Verdict } from "../stats/verdict.ts";

/** Scores of one arm: a row a pass, a column a task; null where there is none (invalid, infra). */
export type ArmScores = readonly (readonly (number | null)[])[];

export interface ScreenNumbers {
  champion: number;
  candidate: number;
  effect: number;
  tasks: number;
  passes: { champion: number; candidate: number };
}

/**
 * The screen may only kill: a candidate that does no better on the tasks that its author saw is not worth a test. Tasks
 * count that both arms have a score of; where there is none, nothing speaks against the candidate.
 */
export function screenVerdict(
  champion: ArmScores,
  candidate: ArmScores,
): { passed: boolean; numbers: ScreenNumbers; reason: string } {
  const scored = (arm: ArmScores, task: number) => arm.some((row) => typeof row[task] === "number");
  const common = (candidate[0] ?? []).flatMap((_, task) =>
    scored(champion, task) && scored(candidate, task) ? [task] : [],
  );
  const mean = (arm: ArmScores) =>
    scoreEstimate(withoutGaps(arm.map((row) => common.map((task) => row[task] ?? null)))).mean;
  const passes = { champion: champion.length, candidate: candidate.length };
  if (common.length === 0) {
    const numbers = { champion: 0, candidate: 0, effect: 0, tasks: 0, passes };
    return { passed: true, numbers, reason: "no task has a score in both arms" };
  }
  const [before, after] = [mean(champion), mean(candidate)];
  const numbers = {
    champion: before,
    candidate: after,
    effect: after - before,
    tasks: common.length,
    passes,
  };
  const shown = `${numbers.champion.toFixed(2)} → ${numbers.candidate.toFixed(2)} on the evolve split`;
  return numbers.effect > 0
    ? { passed: true, numbers, reason: shown }
    : { passed: false, numbers, reason: `no gain where it should show: ${shown}` };
}

/** Share of task-runs of both arms that must have a score; below it nothing is decided. */
export const neededCoverage = 0.95;

export interface ConfirmationInput {
  champion: ArmScores;
  candidate: ArmScores;
  alpha: number;
  maxPasses: number;
}

/**
 * The verdict after the passes so far: `continue` asks for another. Only whole passes, only numbers of the
 * orchestrator's. Passes without any variance are the deterministic case once there are so many that a noisy model
 * would show it: of a task that passes half the time, n passes of both arms look like a sure gain with chance 4⁻ⁿ.
 */
export function decide({ champion, candidate, alpha, maxPasses }: ConfirmationInput): Verdict {
  const differences = candidate.map((row, pass) =>
    row.map((score, task) => difference(score, champion[pass]?.[task])),
  );
  const covered = differences.flat().filter((value) => value !== null).length;
  const coverage = covered / Math.max(1, differences.flat().length);
  if (coverage < neededCoverage) {
    const reason = `only ${(coverage * 100).toFixed(0)} % of the rollouts have a score in both arms`;
    const interval = { low: -1, high: 1 };
    return {
      decision: "indecisive",
      effect: 0,
      interval,
      n: champion[0]?.length ?? 0,
      passes: champion.length,
      reason,
    };
  }
  // A missing score is no evidence either way.
  const passes = differences.map((row) => row.map((value) => value ?? 0));
  const verdict = confirmationVerdict({ passes, alpha, maxPasses });
  if (!withoutVariance(champion) || !withoutVariance(candidate)) return verdict;
  const first = firstOfEach(differences);
  if (passes.length >= 2 && 4 ** -passes.length <= alpha) return deterministicVerdict(first, alpha);
  // Too small to look worth its confirmation, but a deterministic model's small gain is a sure one.
  const sure = first.every((value) => value >= 0) && first.some((value) => value > 0);
  return verdict.decision === "reject" && sure && passes.length < maxPasses
    ? { ...verdict, decision: "continue", reason: "gains without a loss so far: another pass" }
    : verdict;
}

/** For each task the first difference that there is. */
function firstOfEach(differences: ArmScores): number[] {
  return (differences[0] ?? []).map(
    (_, task) => differences.map((row) => row[task]).find((value) => typeof value === "number") ?? 0,
  );
}

function difference(candidate: number | null, champion: number | null | undefined): number | null {
  return candidate === null || champion === null || champion === undefined ? null : candidate - champion;
}

function withoutVariance(arm: ArmScores): boolean {
  return (arm[0] ?? []).every((_, task) => {
    const scores = arm.flatMap((row) => row[task] ?? []);
    return scores.every((score) => score === scores[0]);
  });
}

/**
 * The rows of an arm with their gaps closed, for an estimate: a missing score takes the mean of its task's other passes,
 * and a task without any score is left out. Nothing is ever counted as 0 for want of a score.
 */
export function withoutGaps(arm: ArmScores): number[][] {
  const columns = (arm[0] ?? []).map((_, task) => arm.map((row) => row[task] ?? null));
  const closed = columns.flatMap((column): number[][] => {
    const scores = column.filter((score) => score !== null);
    if (scores.length === 0) return [];
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    return [column.map((score) => score ?? mean)];
  });
  return arm.map((_, pass) => closed.map((column) => column[pass] ?? 0));
}
