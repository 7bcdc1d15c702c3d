import { gateFailure } from "../../agent/eval-gate.ts";
import type { Spec, Task } from "../../config/recipe-schema.ts";
import type { Evaluate, Right } from "./evaluator.ts";

/**
 * The spec's eval gate. Where the spec leaves `must_include` open, the answer must hold the task's expected answer and
 * none of the other answers that tasks share: naming every option is no decision.
 */
export function evalGate(spec: Spec, tasks: readonly Task[]): Evaluate {
  const labels = sharedAnswers(tasks);
  return (finished, { expected }) => {
    const { must_include } = spec.eval_gate;
    const failure = gateFailure(spec, finished, must_include ?? expected);
    if (failure !== undefined) return { score: 0, reason: failure };
    const hedged = must_include === null && otherLabel(finished.answer, expected, labels);
    return hedged ? { score: 0, reason: `the answer also holds ${JSON.stringify(hedged)}` } : { score: 1 };
  };
}

/** A rollout that passes the gate with the task's expected answer. */
export function rightByGate({ eval_gate: { must_call, must_include } }: Spec, { expected }: Task): Right {
  const answer =
    must_include === null || expected.includes(must_include) ? expected : `${must_include} ${expected}`;
  return { answer, dispatched: must_call === null ? [] : [must_call] };
}

/** An answer that only one task has is no label: it may well stand in another's answer by chance. */
function sharedAnswers(tasks: readonly Task[]): string[] {
  const counts = new Map<string, number>();
  for (const { expected } of tasks) counts.set(expected, (counts.get(expected) ?? 0) + 1);
  return [...counts].flatMap(([answer, count]) => (count > 1 && answer !== "" ? [answer] : []));
}

function otherLabel(answer: string, expected: string, labels: readonly string[]): string | undefined {
  // A label that is a part of the expected answer counts only where it stands by itself.
  const rest = answer.replaceAll(expected, "\n");
  return labels.find(
    (label) => label !== expected && (expected.includes(label) ? rest : answer).includes(label),
  );
}
