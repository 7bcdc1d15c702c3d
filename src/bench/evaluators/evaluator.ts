import type { AgentResult } from "../../agent/loop.ts";
import type { Task } from "../../config/recipe-schema.ts";

/** What an evaluator says of one answer. `score` outside [0, 1], or no number, makes the rollout `invalid`. */
export interface Judgement {
  score: unknown;
  /** Why, for people: may quote the expected answer, so no proposer ever sees it. */
  reason?: string;
}

/** A rollout that ended; one that a limit ended is a fail before any evaluator looks at it. */
export type Finished = Pick<AgentResult, "answer" | "exitReason" | "steps" | "dispatched" | "refused">;

export type Evaluate = (finished: Finished, task: Task) => Judgement | Promise<Judgement>;

export interface Evaluator {
  kind: string;
  /** Keys stored scores: another evaluator never sees this one's. */
  hash: string;
  evaluate: Evaluate;
  /** What a rollout that is right would have; undefined where that cannot be told. Default: the expected answer. */
  right?(task: Task): Right | undefined;
}

export type Right = Pick<Finished, "answer" | "dispatched">;
