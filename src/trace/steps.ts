import type { TraceEvent, TraceEventOf } from "./events.ts";
import type { Message } from "./messages.ts";

/** One step of a trajectory: everything between two model requests. */
export interface TraceStep {
  step: number;
  reply: TraceEventOf<"model-reply"> | undefined;
  calls: TraceEventOf<"tool-call">[];
  results: TraceEventOf<"tool-result">[];
  triggers: TraceEventOf<"processor-trigger">[];
  errors: TraceEventOf<"processor-error">[];
  nudges: TraceEventOf<"nudge">[];
}

/** A trajectory as people and proposers read it. */
export interface ReadTrace {
  start: TraceEventOf<"rollout-start">;
  /** The system prompt and the task, as first sent. */
  opening: Message[];
  steps: TraceStep[];
  end: TraceEventOf<"rollout-end"> | undefined;
}

/** Groups a trajectory's events by step; undefined when it does not even have a start. */
export function readTrace(events: readonly TraceEvent[]): ReadTrace | undefined {
  const start = events.find((event) => event.type === "rollout-start");
  if (start === undefined) return undefined;
  const steps: TraceStep[] = [];
  const at = (step: number): TraceStep => {
    const known = steps.find((candidate) => candidate.step === step);
    if (known) return known;
    const fresh = { step, reply: undefined, calls: [], results: [], triggers: [], errors: [], nudges: [] };
    steps.push(fresh);
    return fresh;
  };
  for (const event of events) {
    if (event.type === "model-reply") at(event.step).reply = event;
    else if (event.type === "tool-call") at(event.step).calls.push(event);
    else if (event.type === "tool-result") at(event.step).results.push(event);
    else if (event.type === "processor-trigger") at(event.step).triggers.push(event);
    else if (event.type === "processor-error") at(event.step).errors.push(event);
    else if (event.type === "nudge") at(event.step).nudges.push(event);
  }
  return {
    start,
    opening: events.find((event) => event.type === "messages-append")?.messages ?? [],
    steps,
    end: events.find((event) => event.type === "rollout-end"),
  };
}
