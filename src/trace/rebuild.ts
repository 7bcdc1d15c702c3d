import type { TraceEvent } from "./events.ts";
import type { Message, ToolSchema } from "./messages.ts";

/** One request as it was sent, rebuilt from a trajectory. */
export interface RebuiltRequest {
  step: number;
  digest: string;
  messages: Message[];
  tools: ToolSchema[];
  sampling: Record<string, unknown>;
}

/** Rebuilds every request of a trajectory, byte for byte: canonical JSON of each hashes to its `digest`. */
export function rebuildRequests(events: readonly TraceEvent[]): RebuiltRequest[] {
  const requests: RebuiltRequest[] = [];
  let history: Message[] = [];
  let tools: ToolSchema[] = [];
  let sampling: Record<string, unknown> = {};
  for (const event of events) {
    if (event.type === "rollout-start") ({ tools, sampling } = event);
    else if (event.type === "messages-append") history = [...history, ...event.messages];
    else if (event.type === "messages-replace")
      history = [...history.slice(0, event.keep), ...event.messages];
    else if (event.type === "model-request") {
      const { step, digest, keep, messages: overlay } = event;
      const messages = overlay === undefined ? history : [...history.slice(0, keep), ...overlay];
      requests.push({ step, digest, messages, tools, sampling });
    }
  }
  return requests;
}
