import { isDeepStrictEqual } from "node:util";
import { openHarness } from "../agent/build.ts";
import { type AgentResult, runAgent } from "../agent/loop.ts";
import type { ToolOutcome, ToolPart } from "../agent/parts.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { createReplayModel, Divergence } from "../model/replay.ts";
import type { TraceEvent, TraceEventOf } from "../trace/events.ts";
import { readTrace } from "../trace/steps.ts";
import { type Bench, sourcesOf } from "./bench.ts";

/** Where a harness first does other than the record, and what made it. */
export interface DivergencePoint {
  /** Request index; equal to the record's number of requests when only the end differs. */
  step: number;
  cause: { kind: "processor" | "tool" | "prompt" | "knob" | "end"; name: string };
}

export interface Replayed {
  /** Undefined: equal to the record to the end. */
  divergence: DivergencePoint | undefined;
  /** Requests up to which the record holds for this harness. */
  validUntilStep: number;
  /** Undefined when it diverged before its end. */
  result: AgentResult | undefined;
  fired: { processor: string; step: number }[];
  errors: { processor: string; hook: string; step: number; message: string }[];
  /** What authored code left behind. */
  faults: string[];
}

/**
 * Runs a record again under `harness` with the recorded model. A recorded tool result is served only where `champion`
 * has the same tool and nothing that it reads has changed; any other tool runs in the fence.
 */
export async function replayRecord(
  bench: Bench,
  record: readonly TraceEvent[],
  { harness, champion }: { harness: LoadedHarness; champion: LoadedHarness },
): Promise<Replayed> {
  const start = record.find((event) => event.type === "rollout-start");
  const task = taskOf(record);
  const events: TraceEvent[] = [];
  const { harness: opened, close } = await openHarness(harness, sourcesOf(bench));
  const shared = sharedTools(harness, champion);
  const served = new RecordedResults(record);
  const tools = [...opened.tools].map(([name, tool]): [string, ToolPart] => [
    name,
    shared.has(name) ? served.wrap(tool) : tool,
  ]);
  try {
    const result = await runAgent({
      harness: { ...opened, tools: new Map(tools) },
      task,
      model: createReplayModel(record),
      sampling: start?.sampling ?? {},
      seed: start?.seed ?? 0,
      sink: (event) => events.push(event),
      policy: bench.recipe.recipe.policy,
      guided: true,
    });
    const faults = await close();
    return { ...outline(events), result, faults, ...endDivergence(record, events, result) };
  } catch (error) {
    const faults = await close();
    if (!(error instanceof Divergence)) throw error;
    const cause = causeOf(error, record, events);
    return {
      ...outline(events),
      result: undefined,
      faults,
      divergence: { step: error.index, cause },
      validUntilStep: error.index,
    };
  }
}

function taskOf(record: readonly TraceEvent[]): string {
  const opening = record.find((event) => event.type === "messages-append");
  return opening?.messages.find((message) => message.role === "user")?.content ?? "";
}

/** Tools whose code is the same in both: authored ones by code, built-in ones by name. */
export function sharedTools(a: LoadedHarness, b: LoadedHarness): Set<string> {
  const codes = (harness: LoadedHarness) =>
    new Map([
      ...harness.config.tools.builtin.map((name) => [name, "builtin"] as const),
      ...harness.parts.flatMap((part) =>
        part.kind === "tool" ? [[part.exportName, part.codeHash] as const] : [],
      ),
    ]);
  const other = codes(b);
  return new Set([...codes(a)].flatMap(([name, code]) => (other.get(name) === code ? [name] : [])));
}

/** Recorded tool results, handed out once each, in the order of the record. */
class RecordedResults {
  private readonly waiting: { call: TraceEventOf<"tool-call">; outcome: ToolOutcome }[];

  constructor(record: readonly TraceEvent[]) {
    const results = record.filter((event) => event.type === "tool-result");
    this.waiting = record.flatMap((event) => {
      if (event.type !== "tool-call" || event.disposition !== "dispatched") return [];
      const result = results.find((candidate) => candidate.callId === event.call.id);
      if (result === undefined) return [];
      return [{ call: event, outcome: { result: result.raw ?? result.result, isError: result.isError } }];
    });
  }

  wrap(tool: ToolPart): ToolPart {
    return {
      schema: tool.schema,
      run: async (input) => {
        const index = this.waiting.findIndex(
          ({ call }) => call.call.name === tool.schema.name && isDeepStrictEqual(call.call.input, input),
        );
        const [found] = index === -1 ? [] : this.waiting.splice(index, 1);
        return found?.outcome ?? (await tool.run(input));
      },
    };
  }
}

function outline(events: readonly TraceEvent[]): Pick<Replayed, "fired" | "errors"> {
  return {
    fired: events.flatMap((event) =>
      event.type === "processor-trigger" ? [{ processor: event.processor, step: event.step }] : [],
    ),
    errors: events.flatMap((event) => {
      if (event.type !== "processor-error") return [];
      const { processor, hook, step, message } = event;
      return [{ processor, hook, step, message }];
    }),
  };
}

/** Every request was equal: do executed calls, answer and exit reason agree too? */
function endDivergence(
  record: readonly TraceEvent[],
  events: readonly TraceEvent[],
  result: AgentResult,
): Pick<Replayed, "divergence" | "validUntilStep"> {
  const end = record.find((event) => event.type === "rollout-end");
  const requests = record.filter((event) => event.type === "model-request").length;
  const executed = (list: readonly TraceEvent[]) =>
    list.flatMap((event) => (event.type === "tool-call" ? [[event.call, event.disposition]] : []));
  const same =
    end?.answer === result.answer &&
    end.exitReason === result.exitReason &&
    isDeepStrictEqual(executed(record), executed(events));
  if (same) return { divergence: undefined, validUntilStep: requests };
  const fired = newlyFired(record, events);
  const cause = fired
    ? ({ kind: "processor", name: fired } as const)
    : ({ kind: "end", name: result.exitReason } as const);
  return { divergence: { step: requests, cause }, validUntilStep: requests };
}

/** What made the first difference: looked for in the order in which parts act on a request. */
function causeOf(
  { index, request, recorded }: Divergence,
  record: readonly TraceEvent[],
  events: readonly TraceEvent[],
): DivergencePoint["cause"] {
  if (recorded === undefined) return { kind: "knob", name: "limits" };
  const changedTool = changedName(
    recorded.tools.map((tool) => [tool.name, tool]),
    request.tools.map((tool) => [tool.name, tool]),
  );
  if (changedTool !== undefined) return { kind: "tool", name: changedTool };
  const fired = newlyFired(record, events);
  const system = (messages: RebuiltMessages) =>
    messages.find((message) => message.role === "system")?.content;
  if (system(recorded.messages) !== system(request.messages))
    return fired ? { kind: "processor", name: fired } : { kind: "prompt", name: "system prompt" };
  if (fired) return { kind: "processor", name: fired };
  const result = request.messages.findLast(
    (message, at) => message.role === "tool" && !isDeepStrictEqual(message, recorded.messages[at]),
  );
  if (result?.role === "tool") return { kind: "tool", name: result.name };
  return { kind: "knob", name: `request ${index}` };
}

type RebuiltMessages = NonNullable<Divergence["recorded"]>["messages"];

function changedName(before: [string, unknown][], after: [string, unknown][]): string | undefined {
  const old = new Map(before);
  const now = new Map(after);
  return [...new Set([...old.keys(), ...now.keys()])].find(
    (name) => !isDeepStrictEqual(old.get(name), now.get(name)),
  );
}

/** The last processor that did something here which the record does not show it doing at that step. */
function newlyFired(record: readonly TraceEvent[], events: readonly TraceEvent[]): string | undefined {
  const known = new Set(
    record.flatMap((e) =>
      e.type === "processor-trigger" ? [`${e.processor} ${e.hook} ${e.step} ${e.detail}`] : [],
    ),
  );
  const fresh = events.findLast(
    (e) => e.type === "processor-trigger" && !known.has(`${e.processor} ${e.hook} ${e.step} ${e.detail}`),
  );
  return fresh?.type === "processor-trigger" ? fresh.processor : undefined;
}

/** Share of records on which a harness replays itself, and why the others do not. */
export async function selfReplay(
  bench: Bench,
  records: readonly TraceEvent[][],
  champion: LoadedHarness,
): Promise<{ replayable: boolean[]; causes: Record<string, number> }> {
  const causes: Record<string, number> = {};
  const replayable: boolean[] = [];
  for (const record of records) {
    const { divergence } = await replayRecord(bench, record, { harness: champion, champion });
    replayable.push(divergence === undefined && readTrace(record)?.end !== undefined);
    if (divergence === undefined) continue;
    const cause = `${divergence.cause.kind}:${divergence.cause.name}`;
    causes[cause] = (causes[cause] ?? 0) + 1;
  }
  return { replayable, causes };
}
