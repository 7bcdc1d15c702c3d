import { LorimerError } from "../lib/errors.ts";
import type { ToolCall } from "../trace/messages.ts";
import type { Model, ModelReply, ModelRequest } from "./model.ts";

/** One canned reply: text, or text with calls. */
export type ScriptedReply =
  | string
  | { content?: string; toolCalls?: ToolCall[]; finishReason?: ModelReply["finishReason"] };

type Script = readonly ScriptedReply[] | ((request: ModelRequest) => ScriptedReply);

/**
 * A model that says what it was told to: the n-th reply to the n-th request of its life, or what a function returns.
 * It proves the loop around it and nothing else; every number from it is of kind `scripted`.
 */
export function createScriptedModel(script: Script, { name = "scripted" } = {}): Model {
  let turn = 0;
  return {
    kind: "scripted",
    name,
    async complete(request) {
      turn++;
      const reply = typeof script === "function" ? script(request) : script[turn - 1];
      if (reply === undefined)
        throw new LorimerError("usage", `the scripted model has no reply for turn ${turn}`, {
          hint: "Script one reply for each request, or pass a function.",
        });
      return toReply(reply, request);
    },
  };
}

function toReply(reply: ScriptedReply, request: ModelRequest): ModelReply {
  const {
    content = "",
    toolCalls = [],
    finishReason,
  } = typeof reply === "string" ? { content: reply } : reply;
  const inputChars = request.messages.reduce((sum, message) => sum + message.content.length, 0);
  return {
    content,
    toolCalls,
    finishReason: finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop"),
    usage: { inputTokens: Math.ceil(inputChars / 4), outputTokens: Math.ceil(content.length / 4) },
    costUsd: 0,
  };
}
