import type { Disposition, TraceEvent, TraceEventOf } from "../../src/trace/events.ts";
import { type ReadTrace, readTrace } from "../../src/trace/steps.ts";

const usage = { inputTokens: 10, outputTokens: 5 };

export const start: TraceEventOf<"rollout-start"> = {
  type: "rollout-start",
  v: 1,
  rollout: "key",
  task: "t1",
  split: "evolve",
  seed: 7,
  behaviour: "b",
  model: { kind: "scripted", name: "test" },
  sampling: {},
  tools: ["look", "write", "never"].map((name) => ({ name, description: name, inputSchema: {} })),
};

export const end: TraceEventOf<"rollout-end"> = {
  type: "rollout-end",
  exitReason: "done",
  answer: "The answer.",
  steps: 2,
  toolCalls: 1,
  usage,
  costUsd: 0.25,
  faults: [],
};

export const opening = (task: string, system = "Be brief."): TraceEvent => ({
  type: "messages-append",
  messages: [
    { role: "system", content: system },
    { role: "user", content: task },
  ],
});

export const reply = (step: number, content: string): TraceEvent => ({
  ...{ type: "model-reply", step, content, toolCalls: [] },
  ...{ finishReason: "stop", usage, costUsd: 0 },
});

/** A call with its result. */
export const called = (
  step: number,
  [id, name, input]: [string, string, Record<string, unknown>],
  result: string,
  { isError = false, disposition = "dispatched" }: { isError?: boolean; disposition?: Disposition } = {},
): TraceEvent[] => [
  { type: "tool-call", step, call: { id, name, input }, disposition },
  { type: "tool-result", step, callId: id, name, result, isError },
];

export function traceOf(...events: (TraceEvent | TraceEvent[])[]): ReadTrace {
  const trace = readTrace([start, ...events.flat()]);
  if (trace === undefined) throw new Error("no start");
  return trace;
}
