import type { z } from "zod";

/** What an authored tool may reach: the recipe's resources, read-only, and the rollout's own workspace. */
export interface ToolContext {
  /** Names of the recipe's resource files, sorted. */
  readonly resources: readonly string[];
  /** The text of a resource. Rejects when there is none of that name. */
  resource(name: string): Promise<string>;
  /**
   * The `k` records of a JSON-lines resource that are most like `text`, best first; `score` is in [0, 1].
   * The index is built once and kept outside authored code.
   */
  rank(name: string, text: string, k: number): Promise<RankedRecord[]>;
  readonly workspace: {
    /** The text of a file of this rollout's workspace. */
    read(path: string): Promise<string>;
    write(path: string, text: string): Promise<void>;
    list(): Promise<string[]>;
  };
}

export interface RankedRecord {
  score: number;
  record: Record<string, unknown>;
}

export interface ToolDefinition<Input extends z.ZodObject = z.ZodObject> {
  /** What the agent can do with it: the model reads this. */
  description: string;
  /** One zod object; the JSON Schema that the model gets comes from it. */
  input: Input;
  /** Returns a non-empty string or something that JSON can hold; a failure returns `[name failed: reason]`. */
  run(input: z.infer<Input>, context: ToolContext): Promise<unknown> | unknown;
}

const toolMark = Symbol.for("lorimer.tool");

export interface Tool extends ToolDefinition {
  readonly [toolMark]: true;
}

/** Defines a tool. Export exactly one per file; the export's name is the name that the model calls. */
export function tool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  return Object.freeze({ ...(definition as unknown as ToolDefinition), [toolMark]: true as const });
}

export function isTool(value: unknown): value is Tool {
  return (
    typeof value === "object" && value !== null && (value as { [toolMark]?: unknown })[toolMark] === true
  );
}
