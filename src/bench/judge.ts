import { inspect } from "node:util";
import type { Task } from "../config/recipe-schema.ts";
import { messageOf } from "../lib/errors.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import type { Evaluator, Finished } from "./evaluators/evaluator.ts";

type Judged = Pick<LedgerRecordOf<"rollout-scored">, "outcome" | "score" | "reason">;

/**
 * The outcome of a finished rollout. A limit that ended it is a fail; a score that is no number in [0, 1] is `invalid`,
 * an evaluator that broke is `infra`: neither ever counts as 0.
 */
export async function judge(evaluator: Evaluator, finished: Finished, task: Task): Promise<Judged> {
  if (finished.exitReason !== "done")
    return { outcome: "fail", score: 0, reason: `ended by ${finished.exitReason}` };
  let judgement: Awaited<ReturnType<Evaluator["evaluate"]>>;
  try {
    judgement = await evaluator.evaluate(finished, task);
  } catch (error) {
    return { outcome: "infra", score: null, reason: `the evaluator broke: ${messageOf(error)}` };
  }
  const { score } = judgement;
  if (typeof score !== "number" || !Number.isFinite(score) || score < 0 || score > 1 || Object.is(score, -0))
    return { outcome: "invalid", score: null, reason: `no score in [0, 1]: ${inspect(score).slice(0, 200)}` };
  const outcome = score === 1 ? "pass" : "fail";
  return judgement.reason === undefined ? { outcome, score } : { outcome, score, reason: judgement.reason };
}
