import { isDeepStrictEqual } from "node:util";
import { openHarness } from "../agent/build.ts";
import { type AgentResult, runAgent } from "../agent/loop.ts";
import type { ToolOutcome, ToolPart } from "../agent/parts.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { createReplayModel, Divergence } from "../model/replay.ts";
import type { TraceEvent, TraceEventOf } from "../trace/events.ts";
import { readTrace } from "../trace/steps.ts";
import { type Bench, sourcesOf } from "./bench.ts";
import { type Cause, type Comparison, causeOf, changedTool } from "./divergence.ts";

/** Where a harness first does other than the record, and what made it. */
export interface DivergencePoint {
  /** Index of the first request that differs or is missing; the record's number of requests when only the end differs. */
  step: number;
  cause: Cause;
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
  const tools = withRecordedResults(opened.tools, record, sharedTools(harness, champion));
  try {
    const result = await runAgent({
      harness: { ...opened, tools },
      task,
      model: createReplayModel(record),
      sampling: start?.sampling ?? {},
      seed: start?.seed ?? 0,
      sink: (event) => events.push(event),
      policy: bench.recipe.recipe.policy,
      guided: true,
    });
    const faults = await close();
    return { ...outline(events), result, faults, ...endOf({ record, events, champion, harness }, result) };
  } catch (error) {
    const faults = await close();
    if (!(error instanceof Divergence)) throw error;
    const { index, request, recorded } = error;
    const offered = recorded && changedTool(recorded.tools, request.tools);
    const cause = offered ?? causeOf({ record: upTo(record, index), events, champion, harness });
    return {
      ...outline(events),
      result: undefined,
      faults,
      divergence: { step: index, cause },
      validUntilStep: index,
    };
  }
}

function taskOf(record: readonly TraceEvent[]): string {
  const opening = record.find((event) => event.type === "messages-append");
  return opening?.messages.find((message) => message.role === "user")?.content ?? "";
}

/** Tools whose code is the same in both: authored ones by code, built-in ones by name. */
function sharedTools(a: LoadedHarness, b: LoadedHarness): Map<string, "builtin" | "authored"> {
  const other = toolCodes(b);
  return new Map(
    [...toolCodes(a)].flatMap(([name, code]) =>
      other.get(name) === code ? [[name, code === "builtin" ? code : "authored"]] : [],
    ),
  );
}

function toolCodes({ config, parts }: LoadedHarness): Map<string, string> {
  return new Map([
    ...config.tools.builtin.map((name) => [name, "builtin"] as const),
    ...parts.flatMap((part) => (part.kind === "tool" ? [[part.exportName, part.codeHash] as const] : [])),
  ]);
}

/**
 * Tools that give the recorded results where they are shared. While another tool runs for real, it and the built-in
 * ones must find the workspace as it was, so then the shared ones run too, for what they write.
 */
function withRecordedResults(
  tools: ReadonlyMap<string, ToolPart>,
  record: readonly TraceEvent[],
  shared: ReadonlyMap<string, "builtin" | "authored">,
): Map<string, ToolPart> {
  const recorded = new RecordedResults(record);
  const real = [...tools.keys()].some((name) => name !== "invoke_skill" && !shared.has(name));
  return new Map(
    [...tools].map(([name, tool]) => {
      const kind = shared.get(name);
      const runs = kind === undefined || (real && kind === "builtin");
      return [name, runs ? tool : recorded.wrap(tool, { runToo: real })];
    }),
  );
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

  wrap(tool: ToolPart, { runToo }: { runToo: boolean }): ToolPart {
    return {
      schema: tool.schema,
      run: async (input) => {
        const index = this.waiting.findIndex(
          ({ call }) => call.call.name === tool.schema.name && isDeepStrictEqual(call.call.input, input),
        );
        const [found] = index === -1 ? [] : this.waiting.splice(index, 1);
        // What failed wrote nothing to rely on, and may well have hung.
        if (found && runToo && !found.outcome.isError) await tool.run(input);
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

/** Every request was equal: do executed calls, delivered results, answer and exit reason agree too? */
function endOf(
  compared: Comparison,
  { answer, exitReason }: AgentResult,
): Pick<Replayed, "divergence" | "validUntilStep"> {
  const { record, events } = compared;
  const end = record.find((event) => event.type === "rollout-end");
  const [recorded, made] = [requestsIn(record), requestsIn(events)];
  const same =
    end?.answer === answer &&
    end.exitReason === exitReason &&
    recorded === made &&
    isDeepStrictEqual(deeds(record), deeds(events));
  if (same) return { divergence: undefined, validUntilStep: recorded };
  const step = Math.min(recorded, made);
  return { divergence: { step, cause: causeOf(compared) }, validUntilStep: step };
}

function requestsIn(events: readonly TraceEvent[]): number {
  return events.filter((event) => event.type === "model-request").length;
}

/** Calls as executed, and results as delivered. */
function deeds(events: readonly TraceEvent[]): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.type === "tool-call") return [[event.call, event.disposition]];
    return event.type === "tool-result" ? [[event.callId, event.result, event.isError]] : [];
  });
}

/** A record's events up to its request of that index, with it; all of them where it has none. */
function upTo(record: readonly TraceEvent[], index: number): readonly TraceEvent[] {
  let seen = -1;
  const at = record.findIndex((event) => event.type === "model-request" && ++seen === index);
  return at === -1 ? record : record.slice(0, at + 1);
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
