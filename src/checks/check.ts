/** One thing that a check found, for people and (of the evolve split) for proposers. */
export interface Finding {
  /** A short stable word for the kind of fault, e.g. `task-id`. */
  kind: string;
  message: string;
  /** Path inside the candidate's directory. */
  file?: string | undefined;
  /** Counted from 1. */
  line?: number | undefined;
  /** What to do about it, one sentence. */
  hint?: string | undefined;
  /** Worth saying, but no reason to refuse. */
  warning?: true | undefined;
}

export interface CheckResult {
  name: string;
  status: "pass" | "fail" | "skipped";
  findings: Finding[];
}
