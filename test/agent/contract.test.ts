import { describe, expect, test } from "vitest";
import {
  checkBeforeModel,
  checkStepStart,
  checkTracks,
  workingMemoryMark,
} from "../../src/agent/contract.ts";
import type { Message } from "../../src/trace/messages.ts";

const system = (content = "system"): Message => ({ role: "system", content });
const user = (content: string): Message => ({ role: "user", content });
const said = (content: string, ...ids: string[]): Message => ({
  role: "assistant",
  content,
  ...(ids.length > 0 && { toolCalls: ids.map((id) => ({ id, name: "echo", input: {} })) }),
});
const tool = (toolCallId: string, content = "result"): Message => ({
  role: "tool",
  toolCallId,
  name: "echo",
  content,
});

/** Two steps done; the tail is a tool result. */
const history = [
  system(),
  user("task"),
  said("one", "a"),
  tool("a"),
  said("two", "b", "c"),
  tool("b"),
  tool("c"),
];
/** The same, with a user message at the tail. */
const asked = [...history, user("go on")];
const changed = (messages: Message[], index: number, message: Message) => messages.with(index, message);

describe("onBeforeModel", () => {
  test.each([
    ["nothing changed", asked, asked],
    ["nothing changed, the tail no user message", history, history],
    ["the tail user message rewritten", asked, changed(asked, 7, user("go on, and be brief"))],
    ["the task rewritten, where it is the tail", history.slice(0, 2), [system(), user("shorter")]],
    ["a user message appended to one that is none", history, [...history, user("hint")]],
  ])("may do: %s", (_what, before, after) => {
    expect(checkBeforeModel(before, after, 0)).toBeUndefined();
  });

  test.each([
    ["all messages gone", "empty_messages", asked, []],
    ["no messages to begin with", "empty_messages", [], [user("x")]],
    ["one removed", "length_exceeded", asked, asked.slice(0, -1)],
    ["two added", "length_exceeded", history, [...history, user("a"), user("b")]],
    ["one added behind a user message", "length_exceeded", asked, [...asked, user("more")]],
    ["one added that is no user message", "forbidden_role_mutation", history, [...history, said("me")]],
    ["a system message added", "forbidden_role_mutation", history, [...history, system("more")]],
    [
      "one added, an earlier one changed",
      "window_out_of_scope",
      changed(history, 1, user("x")),
      [...history, user("h")],
    ],
    [
      "one put in before the tail",
      "window_out_of_scope",
      history,
      [...history.slice(0, 6), user("h"), user("x")],
    ],
    [
      "the tail rewritten, no user message",
      "window_out_of_scope",
      history,
      changed(history, 6, tool("c", "x")),
    ],
    ["the tail's role changed", "window_out_of_scope", asked, changed(asked, 7, said("go on"))],
    [
      "the tail and an earlier one rewritten",
      "window_out_of_scope",
      asked,
      changed(changed(asked, 7, user("x")), 3, tool("a", "x")),
    ],
    ["the system message rewritten", "window_out_of_scope", asked, changed(asked, 0, system("x"))],
  ])("may not: %s (%s)", (_what, violation, before, after) => {
    expect(checkBeforeModel(before, after, 0)).toBe(violation);
  });

  test("may add one message over the whole chain", () => {
    expect(checkBeforeModel(history, [...history, user("hint")], 1)).toBe("length_exceeded");
  });
});

describe("onStepStart", () => {
  test.each([
    ["nothing changed", history, history],
    ["nothing changed, a user message at the tail", asked, asked],
    ["the tail user message rewritten", asked, changed(asked, 7, user("go on, briefly"))],
    ["an old result rewritten", history, changed(history, 3, tool("a", "[shortened]"))],
    ["an old reply rewritten", history, changed(history, 2, said("shortened", "a"))],
    [
      "old messages replaced by a working memory",
      history,
      [...history.slice(0, 2), user(`${workingMemoryMark} one`), ...history.slice(4)],
    ],
  ])("may do: %s", (_what, before, after) => {
    expect(checkStepStart(before, after)).toBeUndefined();
  });

  test.each([
    ["all messages gone", "empty_messages", history, []],
    ["no messages to begin with", "empty_messages", [], [user("x")]],
    ["the system message rewritten", "system_mutated", history, changed(history, 0, system("x"))],
    ["the system message gone", "system_mutated", history, history.slice(1)],
    [
      "only the tail rewritten, no user message",
      "last_msg_only_mutated",
      history,
      changed(history, 6, tool("c", "x")),
    ],
    ["only the tail's role changed", "last_msg_only_mutated", asked, changed(asked, 7, said("go on"))],
    ["only the tail removed", "last_msg_only_mutated", asked, history],
    ["only a message added at the tail", "last_msg_only_mutated", history, [...history, user("hint")]],
    ["a result without its call", "cross_tool_mutation", history, changed(history, 2, said("one"))],
    ["a call without its result", "cross_tool_mutation", history, history.toSpliced(3, 1)],
    [
      "a call and its result parted",
      "cross_tool_mutation",
      history,
      history.toSpliced(3, 0, user("between")),
    ],
    ["a result said twice", "cross_tool_mutation", history, history.toSpliced(3, 0, tool("a"))],
    ["the task rewritten", "history_wiped", history, changed(history, 1, user("another task"))],
    ["the newest step rewritten", "history_wiped", history, changed(history, 4, said("x", "b", "c"))],
    ["a result of the newest step rewritten", "history_wiped", history, changed(history, 5, tool("b", "x"))],
    [
      "the newest step no longer last",
      "history_wiped",
      asked,
      [...asked.slice(0, 4), user("go on"), ...asked.slice(4, 7)],
    ],
    ["old messages gone with nothing in their place", "history_wiped", history, history.toSpliced(2, 2)],
  ])("may not: %s (%s)", (_what, violation, before, after) => {
    expect(checkStepStart(before, after)).toBe(violation);
  });
});

describe("the tracks", () => {
  test.each([
    ["two system messages", "invariant_system_count", [system(), system()], [system(), user("x")]],
    [
      "a system message that is not first",
      "invariant_system_position",
      [user("x"), system()],
      [user("x"), user("y")],
    ],
    ["another length", "invariant_track_length", history.slice(0, 4), history],
    ["another role", "invariant_role_mismatch", changed(asked, 7, said("x")), asked],
    ["another call id", "invariant_tool_id_mismatch", changed(history, 3, tool("z")), history],
  ])("may not differ by %s (%s)", (_what, violation, effective, raw) => {
    expect(checkTracks(raw, effective)).toBe(violation);
  });

  test("may differ in content", () => {
    expect(checkTracks(history, changed(history, 3, tool("a", "[shortened]")))).toBeUndefined();
  });
});
