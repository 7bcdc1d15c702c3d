import { isDeepStrictEqual } from "node:util";
import type { LoadedHarness } from "../config/harness.ts";
import type { TraceEvent } from "../trace/events.ts";
import type { ToolSchema } from "../trace/messages.ts";

/** What made a harness do other than the record. */
export interface Cause {
  kind: "processor" | "tool" | "prompt" | "knob" | "end";
  name: string;
}

/** Two runs of one task, each up to the end or to the request that differs. */
export interface Comparison {
  record: readonly TraceEvent[];
  events: readonly TraceEvent[];
  champion: LoadedHarness;
  harness: LoadedHarness;
}

const skillTool = "invoke_skill";

/** A tool that is offered in only one of two requests, or described differently. */
export function changedTool(before: readonly ToolSchema[], after: readonly ToolSchema[]): Cause | undefined {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const now = new Map(after.map((tool) => [tool.name, tool]));
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changed = names.find((name) => !isDeepStrictEqual(old.get(name), now.get(name)));
  return changed === undefined ? undefined : toolCause(changed);
}

/** What made the first difference: told from the first event that is not as recorded, since all later ones follow. */
export function causeOf(compared: Comparison): Cause {
  const record = telling(compared.record);
  const events = telling(compared.events);
  const at = events.findIndex((event, index) => !isDeepStrictEqual(event, record[index]));
  const index = at === -1 ? events.length : at;
  const [was, is] = [record[index], events[index]];
  // Where one of them just stops, a limit stopped it.
  if (was === undefined || is === undefined) return limitCause(compared);
  if (isProcessors(is) && !holds(record.slice(index), is)) return processorCause(is);
  if (isProcessors(was) && !holds(events.slice(index), was)) return processorCause(was);
  if (was.type === "nudge" || is.type === "nudge") return limitCause(compared);
  if (was.type === "messages-append" && is.type === "messages-append" && is.messages[0]?.role === "system")
    return { kind: "prompt", name: "system prompt" };
  if (was.type === "tool-call" && is.type === "tool-call" && was.disposition !== is.disposition)
    return dispositionCause([was.disposition, is.disposition], compared);
  if (was.type === "tool-result" && is.type === "tool-result") {
    const own = ({ raw, result }: typeof is) => raw ?? result;
    if (own(was) !== own(is)) return toolCause(is.name);
  }
  // Same deeds by name, another result: the last processor that did something is the one that did it otherwise.
  const last = events.slice(0, index).findLast(isProcessors);
  return last ? processorCause(last) : limitCause(compared);
}

type ProcessorEvent = Extract<TraceEvent, { type: "processor-trigger" | "processor-error" }>;

function isProcessors(event: TraceEvent): event is ProcessorEvent {
  return event.type === "processor-trigger" || event.type === "processor-error";
}

/** The events that tell one run from another, without what merely follows: digests, and what came after the end. */
function telling(events: readonly TraceEvent[]): TraceEvent[] {
  return events.flatMap((event): TraceEvent[] => {
    if (event.type === "rollout-start" || event.type === "rollout-end") return [];
    if (event.type === "processor-trigger" && event.hook === "onTaskEnd") return [];
    return event.type === "model-request" ? [{ ...event, digest: "" }] : [event];
  });
}

function holds(events: readonly TraceEvent[], wanted: TraceEvent): boolean {
  return events.some((event) => isDeepStrictEqual(event, wanted));
}

function processorCause({ processor }: ProcessorEvent): Cause {
  return { kind: "processor", name: processor };
}

function toolCause(name: string): Cause {
  return name === skillTool ? { kind: "prompt", name: "skills" } : { kind: "tool", name };
}

function dispositionCause(dispositions: readonly string[], compared: Comparison): Cause {
  if (dispositions.includes("refused")) return { kind: "knob", name: "tools.allowlist" };
  if (dispositions.includes("exclusive")) return { kind: "knob", name: "limits.exclusive" };
  return limitCause(compared);
}

/** The first limit that differs; where none does, how the record ended. */
function limitCause({ champion, harness, record }: Comparison): Cause {
  const [was, is] = [champion.config.limits, harness.config.limits];
  const keys = Object.keys(is) as (keyof typeof is)[];
  const changed = keys.find((key) => !isDeepStrictEqual(was[key], is[key]));
  if (changed !== undefined) return { kind: "knob", name: `limits.${changed}` };
  const end = record.find((event) => event.type === "rollout-end");
  return { kind: "end", name: end?.exitReason ?? "unfinished" };
}
