import type { ModelKind, Usage } from "../trace/events.ts";
import type { Message, ToolCall, ToolSchema } from "../trace/messages.ts";

/** Everything that a model gets; equal requests have equal canonical JSON. */
export interface ModelRequest {
  messages: Message[];
  tools: ToolSchema[];
  sampling: Record<string, unknown>;
  seed: number;
}

export interface ModelReply {
  content: string;
  toolCalls: ToolCall[];
  finishReason: "stop" | "tool_calls" | "length";
  usage: Usage;
  /** In US dollars; 0 only for models that cost nothing. */
  costUsd: number;
}

export interface Model {
  readonly kind: ModelKind;
  readonly name: string;
  /**
   * Answers one request.
   * @throws LorimerError `infra` when no answer could be had
   */
  complete(request: ModelRequest, options?: { signal?: AbortSignal }): Promise<ModelReply>;
}
