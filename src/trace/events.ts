import { z } from "zod";
import { messageSchema, toolCallSchema, toolSchemaSchema } from "./messages.ts";

export const modelKinds = ["scripted", "sim", "replay", "live"] as const;
export type ModelKind = (typeof modelKinds)[number];

export const exitReasons = [
  "done",
  "max_steps",
  "budget",
  "loop",
  "context_overflow",
  "format_errors",
  "timeout",
  "error",
] as const;
/** How the inner agent stopped; everything but `done` is a fail, never an error of lorimer's. */
export type ExitReason = (typeof exitReasons)[number];

export const dispositions = [
  "dispatched",
  "refused", // outside the allowlist
  "unknown", // no tool has that name
  "blocked", // a processor yielded nothing, or failed
  "exclusive", // a second call to a tool limited to one a turn
  "cut_off", // the reply ended early
  "last_step", // the last call is kept for the final answer
  "limit", // a limit of the rollout was reached before it
] as const;
export type Disposition = (typeof dispositions)[number];

export const usageSchema = z.strictObject({
  inputTokens: z.number().int(),
  outputTokens: z.number().int(),
  cachedTokens: z.number().int().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

const step = z.number().int().min(0).describe("From 0; one model request a step");

/** One line of a trajectory file. The lines of a file rebuild every request that the model got, byte for byte. */
export const traceEventSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("rollout-start"),
    v: z.literal(1),
    rollout: z.string().describe("The rollout's key"),
    task: z.string().describe("Task id: for people and the orchestrator, never shown to the agent"),
    split: z.string(),
    seed: z.number().int(),
    behaviour: z.string().describe("Behaviour hash of the harness"),
    model: z.strictObject({ kind: z.enum(modelKinds), name: z.string() }),
    sampling: z.record(z.string(), z.unknown()),
    tools: z.array(toolSchemaSchema),
  }),
  z.strictObject({
    type: z.literal("messages-append"),
    messages: z.array(messageSchema).describe("Added at the end of the history"),
  }),
  z.strictObject({
    type: z.literal("messages-replace"),
    step,
    keep: z.number().int().describe("How many messages of the history stay; the rest is replaced"),
    messages: z.array(messageSchema),
  }),
  z.strictObject({
    type: z.literal("model-request"),
    step,
    digest: z.string().describe("sha256 of the canonical request"),
    keep: z
      .number()
      .int()
      .optional()
      .describe("Given when onBeforeModel changed this one request: how many history messages it kept"),
    messages: z.array(messageSchema).optional().describe("… and what it put in place of the rest"),
  }),
  z.strictObject({
    type: z.literal("model-reply"),
    step,
    content: z.string(),
    toolCalls: z.array(toolCallSchema),
    finishReason: z.enum(["stop", "tool_calls", "length"]),
    usage: usageSchema,
    costUsd: z.number(),
  }),
  z.strictObject({
    type: z.literal("tool-call"),
    step,
    call: toolCallSchema.describe("As executed: processors may have changed its input"),
    disposition: z.enum(dispositions).describe("Whether it ran, or what kept it from running"),
  }),
  z.strictObject({
    type: z.literal("tool-result"),
    step,
    callId: z.string(),
    name: z.string(),
    result: z.string().describe("As delivered to the model"),
    raw: z.string().optional().describe("The tool's own text, where a processor changed what was delivered"),
    isError: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("processor-trigger"),
    step,
    processor: z.string(),
    hook: z.string(),
    action: z.string().describe("What the processor did; `changed` when it did not say"),
    detail: z.string(),
  }),
  z.strictObject({
    type: z.literal("processor-error"),
    step,
    processor: z.string(),
    hook: z.string(),
    message: z.string(),
    violation: z.string().optional().describe("The contract rule that was broken, if one was"),
  }),
  z.strictObject({
    type: z.literal("nudge"),
    step,
    reason: z.enum(["empty_reply", "cut_off", "skill_required", "budget_warning", "last_step"]),
  }),
  z.strictObject({
    type: z.literal("rollout-end"),
    exitReason: z.enum(exitReasons),
    answer: z.string(),
    steps: z.number().int(),
    toolCalls: z.number().int().describe("Calls that were dispatched"),
    usage: usageSchema,
    costUsd: z.number(),
    error: z.string().optional(),
    faults: z.array(z.string()).describe("What authored code left behind: timers, rejections, a dead worker"),
  }),
]);

export type TraceEvent = z.infer<typeof traceEventSchema>;
export type TraceEventOf<Type extends TraceEvent["type"]> = Extract<TraceEvent, { type: Type }>;

/** Where the agent's events go: the trajectory writer, the progress line and tests only listen. */
export type TraceSink = (event: TraceEvent) => void;
