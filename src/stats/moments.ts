/** Scores or differences of one batch: a row a pass, a column a task; every row covers every task. */
export type Passes = readonly (readonly number[])[];

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Σ (x − mean)². */
export function squares(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
}

/** How many tasks the passes cover. Throws a RangeError when a pass is empty, ragged or holds no finite number. */
export function tasksOf(passes: Passes): number {
  const tasks = passes[0]?.length ?? 0;
  if (tasks === 0) throw new RangeError("no pass, or a pass without tasks");
  for (const [index, pass] of passes.entries()) {
    if (pass.length !== tasks)
      throw new RangeError(`pass ${index} has ${pass.length} tasks, the first ${tasks}`);
    if (!pass.every(Number.isFinite)) throw new RangeError(`pass ${index} has a score that is no number`);
  }
  return tasks;
}

/** The passes of each task. */
export function byTask(passes: Passes): number[][] {
  return Array.from({ length: tasksOf(passes) }, (_, task) => passes.map((pass) => pass[task] as number));
}

/** Sum of squares and degrees of freedom of what varies while the tasks stay the same. */
export interface Spread {
  squares: number;
  degrees: number;
}

/**
 * The within-task spread, pooled over tasks. One pass has no replicate: there the spread over all tasks stands in,
 * which holds the differences between tasks too and so is never too small on average.
 */
export function withinTaskSpread(passes: Passes): Spread {
  const tasks = tasksOf(passes);
  if (passes.length === 1) return { squares: squares(passes[0] ?? []), degrees: Math.max(1, tasks - 1) };
  return {
    squares: byTask(passes).reduce((sum, values) => sum + squares(values), 0),
    degrees: tasks * (passes.length - 1),
  };
}

/** The standard error of the overall mean with the tasks held fixed. */
export function suiteStandardError(passes: Passes): number {
  const spread = withinTaskSpread(passes);
  return Math.sqrt(spread.squares / spread.degrees / (passes.length * tasksOf(passes)));
}
