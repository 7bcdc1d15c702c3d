/** Why lorimer stopped; each code belongs to one exit code of the command line. */
export type ErrorCode =
  | "usage" // wrong use of the command line or the API
  | "config" // a file of the user's (recipe, config.yaml, tasks) is wrong
  | "missing" // something named does not exist
  | "refused" // the answer is no (a check failed)
  | "infra" // endpoint, fence, disk, git
  | "locked" // another process holds the run
  | "interrupted";

const exitCodes: Record<ErrorCode, number> = {
  usage: 2,
  config: 2,
  missing: 2,
  refused: 1,
  infra: 3,
  locked: 3,
  interrupted: 130,
};

interface ErrorDetails {
  /** What the reader can do next, one sentence. */
  hint?: string;
  cause?: unknown;
}

/** The one error class: what and where in `message`, what to do next in `hint`. */
export class LorimerError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "LorimerError";
    this.code = code;
    this.hint = details.hint;
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}

/** The message of anything that was thrown; a tool may reject with `undefined`. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return String(thrown);
}

/** Node's error code (`ENOENT`, …) of what was thrown, if it has one. */
export function systemCode(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
