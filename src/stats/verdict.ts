import type { Interval } from "./intervals.ts";

/** What a test says of a candidate; `continue` asks for another full pass. */
export type Decision = "accept" | "reject" | "continue" | "indecisive";

/** What every verdict states, whatever the test. */
export interface Verdict {
  decision: Decision;
  /** Candidate − champion, mean over tasks of the score's difference. */
  effect: number;
  /** 95 % interval of `effect` on this suite; not corrected for stopping early. */
  interval: Interval;
  /** Tasks in a pass. */
  n: number;
  /** Full passes that the verdict rests on. */
  passes: number;
  /** One plain sentence with the numbers that decided. */
  reason: string;
}
