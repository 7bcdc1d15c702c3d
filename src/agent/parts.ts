import type { AuthoredPart } from "../config/harness.ts";
import type { ToolSchema } from "../trace/messages.ts";
import type { HookName } from "./hooks.ts";

/** The result of one tool run, as text for the model. */
export interface ToolOutcome {
  result: string;
  isError: boolean;
}

/** A tool as the loop sees it: built in, or authored and behind the fence. */
export interface ToolPart {
  readonly schema: ToolSchema;
  /** Never throws for a fault of the tool's: that is an outcome with `isError`. Throws `infra` when the fence broke. */
  run(input: Record<string, unknown>): Promise<ToolOutcome>;
}

/** A processor as the loop sees it. State inside it lives for one rollout. */
export interface ProcessorPart {
  readonly name: string;
  readonly order: number;
  readonly group: string | undefined;
  /** Groups that must come before this one, where they are present. */
  readonly after: readonly string[];
  readonly hooks: ReadonlySet<HookName>;
  /** Runs one hook; returns everything it yielded, unchecked: the loop validates each value. Rejects if it threw. */
  run(hook: HookName, event: unknown): Promise<unknown[]>;
}

/** The authored parts of one harness, opened for one rollout. */
export interface OpenParts {
  tools: ToolPart[];
  processors: ProcessorPart[];
  /** Host path of the rollout's workspace, empty at its start; undefined when nothing authored was opened. */
  workspace: string | undefined;
  /** Ends the rollout inside the fence; what its code left behind is blamed on it here, as a list of faults. */
  close(): Promise<string[]>;
}

/** What the agent asks of the sandbox, which implements it. */
export interface PartLoader {
  /** @throws PartError when a part cannot be loaded or built; LorimerError `infra` when the fence broke. */
  open(parts: readonly AuthoredPart[]): Promise<OpenParts>;
}

/** A part that cannot be loaded, built or described: the harness is refused. */
export class PartError extends Error {
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.name = "PartError";
    this.file = file;
  }
}
