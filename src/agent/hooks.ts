import type { ExitReason } from "../trace/events.ts";
import type { Message, ToolCall, ToolSchema } from "../trace/messages.ts";

/** The eight hooks in the order of a rollout; a method called `on…` that is none of them is refused at load. */
export const hookNames = [
  "onTaskStart",
  "onStepStart",
  "onBeforeModel",
  "onAfterModel",
  "onBeforeTool",
  "onAfterTool",
  "onStepEnd",
  "onTaskEnd",
] as const;
export type HookName = (typeof hookNames)[number];

/** Before the first step. Only `systemPrompt` may be changed. */
export interface TaskStartEvent {
  readonly type: "task-start";
  readonly task: string;
  readonly tools: readonly ToolSchema[];
  systemPrompt: string;
}

/** At the start of a step. `messages` may be rewritten under the message contract, and become the history. */
export interface StepStartEvent {
  readonly type: "step-start";
  readonly step: number;
  readonly maxSteps: number;
  messages: readonly Message[];
}

/** Before one request. `messages` may be changed under the message contract, for this request only. */
export interface BeforeModelEvent {
  readonly type: "before-model";
  readonly step: number;
  readonly maxSteps: number;
  readonly tools: readonly ToolSchema[];
  messages: readonly Message[];
}

/** After a reply. `content` and `toolCalls` may be changed; yield nothing to drop the turn. */
export interface AfterModelEvent {
  readonly type: "after-model";
  readonly step: number;
  readonly maxSteps: number;
  readonly finishReason: "stop" | "tool_calls" | "length";
  content: string;
  toolCalls: readonly ToolCall[];
}

/** Before a tool runs. `call.input` may be changed; yield nothing and the tool does not run. */
export interface BeforeToolEvent {
  readonly type: "before-tool";
  readonly step: number;
  call: ToolCall;
}

/** After a tool ran. Only `result` may be changed. */
export interface AfterToolEvent {
  readonly type: "after-tool";
  readonly step: number;
  readonly call: ToolCall;
  readonly isError: boolean;
  result: string;
}

/** At the end of a step; nothing may be changed. */
export interface StepEndEvent {
  readonly type: "step-end";
  readonly step: number;
  readonly maxSteps: number;
}

/** At the end of the rollout; nothing may be changed. */
export interface TaskEndEvent {
  readonly type: "task-end";
  readonly answer: string;
  readonly exitReason: ExitReason;
  readonly steps: number;
}

/** What each hook is given. */
export interface HookEvents {
  onTaskStart: TaskStartEvent;
  onStepStart: StepStartEvent;
  onBeforeModel: BeforeModelEvent;
  onAfterModel: AfterModelEvent;
  onBeforeTool: BeforeToolEvent;
  onAfterTool: AfterToolEvent;
  onStepEnd: StepEndEvent;
  onTaskEnd: TaskEndEvent;
}

/** Yielded beside the event, to say what was done. */
export interface TriggerEvent {
  type: "trigger";
  action: string;
  detail?: string;
}
