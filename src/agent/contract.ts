import { isDeepStrictEqual } from "node:util";
import type { Message } from "../trace/messages.ts";

/** The rules of the message contract, in the words of the design. */
export type Violation =
  | "empty_messages"
  | "length_exceeded"
  | "forbidden_role_mutation"
  | "window_out_of_scope"
  | "system_mutated"
  | "last_msg_only_mutated"
  | "cross_tool_mutation"
  | "history_wiped"
  | "invariant_system_count"
  | "invariant_system_position"
  | "invariant_track_length"
  | "invariant_role_mismatch"
  | "invariant_tool_id_mismatch";

type Messages = readonly Message[];

/** Text that stands in for messages which compaction took out; it is what makes their absence lawful. */
export const workingMemoryMark = "[working memory]";

/** What `onStepStart` may do: rewrite history, but not the system message, the task or the newest step. */
export function checkStepStart(before: Messages, after: Messages): Violation | undefined {
  if (before.length === 0 || after.length === 0) return "empty_messages";
  if (before[0]?.role === "system" && !isDeepStrictEqual(before[0], after[0])) return "system_mutated";
  if (isTailUserRewrite(before, after)) return undefined;
  if (changedOnlyTheTail(before, after)) return "last_msg_only_mutated";
  return checkToolLinks(after) ?? checkNothingWiped(before, after);
}

/** What `onBeforeModel` may do: rewrite the tail user message's content, or append one user message. */
export function checkBeforeModel(before: Messages, after: Messages, inserted: number): Violation | undefined {
  if (before.length === 0 || after.length === 0) return "empty_messages";
  const added = after.length - before.length;
  if (added < 0 || added > 1) return "length_exceeded";
  if (added === 1) return checkInsertion(before, after, inserted);
  if (isDeepStrictEqual(before, after) || isTailUserRewrite(before, after)) return undefined;
  return "window_out_of_scope";
}

function checkInsertion(before: Messages, after: Messages, inserted: number): Violation | undefined {
  if (before.at(-1)?.role === "user" || inserted > 0) return "length_exceeded";
  if (after.at(-1)?.role !== "user") return "forbidden_role_mutation";
  return samePrefix(before, after, before.length) ? undefined : "window_out_of_scope";
}

/**
 * Chain-level rules between the raw track, as recorded, and the effective one after `onStepStart`. They bind shape, not
 * content, so that the history as the chain got it, which kept them so far, can stand for the raw track.
 */
export function checkTracks(raw: Messages, effective: Messages): Violation | undefined {
  const systems = effective.filter((message) => message.role === "system").length;
  if (systems > 1) return "invariant_system_count";
  if (systems === 1 && effective[0]?.role !== "system") return "invariant_system_position";
  if (raw.length !== effective.length) return "invariant_track_length";
  for (const [index, message] of raw.entries()) {
    const other = effective[index];
    if (other?.role !== message.role) return "invariant_role_mismatch";
    if (message.role === "tool" && other.role === "tool" && other.toolCallId !== message.toolCallId)
      return "invariant_tool_id_mismatch";
  }
  return undefined;
}

function samePrefix(before: Messages, after: Messages, length: number): boolean {
  return isDeepStrictEqual(before.slice(0, length), after.slice(0, length));
}

function isTailUserRewrite(before: Messages, after: Messages): boolean {
  const tails = [before.at(-1), after.at(-1)];
  return (
    before.length === after.length &&
    tails.every((tail) => tail?.role === "user") &&
    samePrefix(before, after, before.length - 1)
  );
}

function changedOnlyTheTail(before: Messages, after: Messages): boolean {
  if (isDeepStrictEqual(before, after)) return false;
  return samePrefix(before, after, before.length - 1);
}

/** Every tool message must still stand behind the assistant message that called it. */
function checkToolLinks(messages: Messages): Violation | undefined {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(message.toolCallId)) return "cross_tool_mutation";
      continue;
    }
    if (open.size > 0) return "cross_tool_mutation";
    open = new Set(message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : []);
  }
  return open.size > 0 ? "cross_tool_mutation" : undefined;
}

function checkNothingWiped(before: Messages, after: Messages): Violation | undefined {
  const kept = (message: Message | undefined) =>
    message === undefined || after.some((other) => isDeepStrictEqual(other, message));
  const task = before.find((message) => message.role === "user");
  const newestStep = before.slice(lastIndexOfRole(before, "assistant"));
  const end = after.slice(after.length - newestStep.length);
  if (!kept(task) || !isDeepStrictEqual(end, newestStep)) return "history_wiped";
  if (after.length >= before.length) return undefined;
  return after.some((message) => message.content.startsWith(workingMemoryMark)) ? undefined : "history_wiped";
}

function lastIndexOfRole(messages: Messages, role: Message["role"]): number {
  const index = messages.findLastIndex((message) => message.role === role);
  return index === -1 ? messages.length : index;
}
