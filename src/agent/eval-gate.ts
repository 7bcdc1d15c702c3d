import type { Spec } from "../config/recipe-schema.ts";
import type { AgentResult } from "./loop.ts";

type GateSpec = Pick<Spec, "eval_gate">;
type Finished = Pick<AgentResult, "answer" | "exitReason" | "steps" | "dispatched" | "refused">;

/**
 * Why a finished rollout fails the spec's eval gate; `undefined` when it passes. `include` is the text that the answer
 * must have: the spec's `must_include`, or the task's expected answer where the spec leaves it open.
 */
export function gateFailure(spec: GateSpec, run: Finished, include: string): string | undefined {
  const { must_call, max_iters } = spec.eval_gate;
  if (run.refused.length > 0) return `allowlist violated: ${[...new Set(run.refused)].join(", ")}`;
  if (run.exitReason !== "done") return `ended by ${run.exitReason}`;
  if (run.steps > max_iters) return `${run.steps} steps, at most ${max_iters} allowed`;
  if (must_call !== null && !run.dispatched.includes(must_call)) return `never called ${must_call}`;
  if (!run.answer.includes(include)) return `the answer lacks ${JSON.stringify(include)}`;
  return undefined;
}
