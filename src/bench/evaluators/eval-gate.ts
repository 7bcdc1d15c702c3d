import { gateFailure } from "../../agent/eval-gate.ts";
import type { Spec, Task } from "../../config/recipe-schema.ts";
import type { Evaluate } from "./evaluator.ts";

/**
 * The spec's eval gate. Where the spec leaves `must_include` open, the answer must hold the task's expected answer and
 * none of the other answers that tasks share: naming every option is no decision.
 */
export function evalGate(spec: Spec, tasks: readonly Task[]): Evaluate {
  const labels = [...new Set(tasks.map((task) => task.expected))];
  return (finished, { expected }) => {
    const include = spec.eval_gate.must_include ?? expected;
    const failure = gateFailure(spec, finished, include);
    if (failure !== undefined) return { score: 0, reason: failure };
    const others = labels.filter((label) => label !== expected && !expected.includes(label));
    const hedged = others.find((label) => finished.answer.includes(label));
    if (spec.eval_gate.must_include === null && hedged !== undefined)
      return { score: 0, reason: `the answer also holds ${JSON.stringify(hedged)}` };
    return { score: 1 };
  };
}
