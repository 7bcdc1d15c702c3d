import type { Message, ToolCall } from "../../trace/messages.ts";

/** What the simulated agent can see of a conversation. */
export interface VisibleContext {
  messages: Message[];
  /** The text of the first user turn's inputs: what there is to decide on. */
  item: string;
  /** Text that may hold instructions, in order: system and user turns without the item. */
  instructions: string[];
}

/** The first `budget` characters of the conversation, messages in order; the rest might as well not be there. */
export function visibleContext(messages: readonly Message[], budget: number): VisibleContext {
  const visible = cutTo(messages, budget);
  const task = visible.find((message) => message.role === "user");
  const { instructions, item } = splitTask(task?.content ?? "");
  return {
    messages: visible,
    item,
    instructions: visible.flatMap((message) => {
      if (message === task) return instructions;
      return message.role === "system" || message.role === "user" ? [message.content] : [];
    }),
  };
}

function cutTo(messages: readonly Message[], budget: number): Message[] {
  const visible: Message[] = [];
  let left = budget;
  for (const message of messages) {
    if (left <= 0) break;
    visible.push({ ...message, content: message.content.slice(0, left) });
    left -= message.content.length + callChars(message);
  }
  return visible;
}

function callChars(message: Message): number {
  const calls: readonly ToolCall[] = (message.role === "assistant" && message.toolCalls) || [];
  return calls.reduce((sum, { name, input }) => sum + name.length + JSON.stringify(input).length, 0);
}

/**
 * Parts the first user turn: what stands before `Inputs:` is instruction, what follows is the item. A closing
 * paragraph may be an instruction that was put after the inputs, so it counts as both.
 */
function splitTask(text: string): { instructions: string[]; item: string } {
  const start = /^inputs?:[ \t]*$/im.exec(text);
  if (start === null) return { instructions: [text], item: text };
  const inputs = text.slice(start.index + start[0].length);
  const item = inputs
    .replace(/^- [\w.-]+: not provided$/gm, "")
    .replace(/^\s*- [\w.-]+: /, "")
    .trim();
  const closing = inputs
    .slice(-closingChars)
    .split(/\n[ \t]*\n/)
    .slice(1)
    .at(-1);
  return { instructions: [text.slice(0, start.index), closing ?? ""], item };
}

const closingChars = 600;
