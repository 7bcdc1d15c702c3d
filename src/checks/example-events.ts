import type { HookEvents, HookName } from "../agent/hooks.ts";
import type { TraceEvent } from "../trace/events.ts";
import type { Message, ToolCall, ToolSchema } from "../trace/messages.ts";
import { rebuildRequests } from "../trace/rebuild.ts";

/** One event as a hook gets it. */
export interface Fired {
  hook: HookName;
  event: HookEvents[HookName];
  step: number;
}

interface Setting {
  maxSteps: number;
  systemPrompt: string;
}

/** The events that a recorded rollout gives to the hooks, in its order. */
export function recordedEvents(record: readonly TraceEvent[], setting: Setting): Fired[] {
  const { maxSteps } = setting;
  const requests = rebuildRequests(record);
  const fired = [taskStart(taskOf(requests[0]?.messages), requests[0]?.tools ?? [], setting)];
  const ran = new Map(
    record.flatMap((event) =>
      event.type === "tool-call" && event.disposition === "dispatched" ? [[event.call.id, event.call]] : [],
    ),
  );
  let asked = 0;
  for (const event of record) {
    if (event.type === "model-request") {
      const { step, messages, tools } = requests[asked++] ?? { step: 0, messages: [], tools: [] };
      if (step > 0) fired.push(stepEnd(step - 1, maxSteps));
      fired.push(...beforeReply(step, messages, tools, maxSteps));
    } else if (event.type === "model-reply") {
      const { step, content, toolCalls, finishReason } = event;
      fired.push(afterModel(step, { content, toolCalls, finishReason }, maxSteps));
    } else if (event.type === "tool-result") {
      const { step, result, raw = result, isError } = event;
      const call = ran.get(event.callId);
      if (call) fired.push(beforeTool(step, call), afterTool(step, call, raw, isError));
    } else if (event.type === "rollout-end") {
      const { answer, exitReason, steps } = event;
      fired.push({ hook: "onTaskEnd", step: steps, event: { type: "task-end", answer, exitReason, steps } });
    }
  }
  return fired;
}

/** A made-up rollout that has what records may lack: tool results good and bad, an empty, a cut-off and a last reply. */
export function syntheticEvents(setting: Setting): Fired[] {
  const { maxSteps } = setting;
  const tool: ToolSchema = {
    name: "example_tool",
    description: "An example.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  };
  const results = [
    { result: "fine", isError: false },
    { result: `[example_tool failed: ${"long reason ".repeat(100)}]`, isError: true },
    { result: "x", isError: true },
  ];
  const history: Message[] = [
    { role: "system", content: setting.systemPrompt },
    { role: "user", content: "An example of a task." },
  ];
  const fired = [taskStart("An example of a task.", [tool], setting)];
  for (const [step, { result, isError }] of results.entries()) {
    const call = { id: `call-${step}`, name: tool.name, input: { text: "an example" } };
    fired.push(
      ...beforeReply(step, [...history], [tool], maxSteps),
      afterModel(step, { content: "", toolCalls: [call], finishReason: "tool_calls" }, maxSteps),
      beforeTool(step, call),
      afterTool(step, call, result, isError),
      stepEnd(step, maxSteps),
    );
    history.push(
      { role: "assistant", content: "", toolCalls: [call] },
      { role: "tool", toolCallId: call.id, name: call.name, content: result, ...(isError && { isError }) },
    );
  }
  const replies = [
    { content: "", finishReason: "stop" },
    { content: "An answer that is cut", finishReason: "length" },
    { content: "An answer.", finishReason: "stop" },
  ] as const;
  for (const [index, reply] of replies.entries()) {
    const step = results.length + index;
    fired.push(
      ...beforeReply(step, [...history], [tool], maxSteps),
      afterModel(step, { ...reply, toolCalls: [] }, maxSteps),
      stepEnd(step, maxSteps),
    );
    history.push({ role: "assistant", content: reply.content }, { role: "user", content: "Go on." });
  }
  const end = { answer: "An answer.", exitReason: "done", steps: results.length + replies.length } as const;
  return [...fired, { hook: "onTaskEnd", step: end.steps, event: { type: "task-end", ...end } }];
}

function taskOf(messages: readonly Message[] = []): string {
  return messages.find((message) => message.role === "user")?.content ?? "";
}

function taskStart(task: string, tools: readonly ToolSchema[], { systemPrompt }: Setting): Fired {
  return { hook: "onTaskStart", step: 0, event: { type: "task-start", task, tools, systemPrompt } };
}

function beforeReply(
  step: number,
  messages: readonly Message[],
  tools: readonly ToolSchema[],
  maxSteps: number,
): Fired[] {
  return [
    { hook: "onStepStart", step, event: { type: "step-start", step, maxSteps, messages } },
    { hook: "onBeforeModel", step, event: { type: "before-model", step, maxSteps, tools, messages } },
  ];
}

function afterModel(
  step: number,
  reply: Pick<HookEvents["onAfterModel"], "content" | "toolCalls" | "finishReason">,
  maxSteps: number,
): Fired {
  return { hook: "onAfterModel", step, event: { type: "after-model", step, maxSteps, ...reply } };
}

function beforeTool(step: number, call: ToolCall): Fired {
  return { hook: "onBeforeTool", step, event: { type: "before-tool", step, call } };
}

function afterTool(step: number, call: ToolCall, result: string, isError: boolean): Fired {
  return { hook: "onAfterTool", step, event: { type: "after-tool", step, call, isError, result } };
}

function stepEnd(step: number, maxSteps: number): Fired {
  return { hook: "onStepEnd", step, event: { type: "step-end", step, maxSteps } };
}
