import type { Harness } from "../../src/agent/harness.ts";
import type { HookEvents, HookName } from "../../src/agent/hooks.ts";
import { type AgentResult, type AgentRun, runAgent } from "../../src/agent/loop.ts";
import type { ProcessorPart, ToolPart } from "../../src/agent/parts.ts";
import { type Limits, limitsSchema } from "../../src/config/harness-schema.ts";
import type { Model, ModelRequest } from "../../src/model/model.ts";
import { createScriptedModel, type ScriptedReply } from "../../src/model/scripted.ts";
import type { TraceEvent, TraceEventOf } from "../../src/trace/events.ts";
import type { Message, ToolCall } from "../../src/trace/messages.ts";

/** A harness by hand, and how it is run; what is left out is bare. */
export interface Setup {
  replies: readonly ScriptedReply[] | ((request: ModelRequest) => ScriptedReply);
  model?: Model;
  systemPrompt?: string;
  task?: string;
  tools?: readonly ToolPart[];
  processors?: readonly ProcessorPart[];
  limits?: Partial<Limits>;
  allowlist?: readonly string[];
  guided?: boolean;
  policy?: AgentRun["policy"];
  sampling?: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface Ran {
  result: AgentResult;
  /** With the start that a rollout's recorder puts before them. */
  events: TraceEvent[];
  requests: ModelRequest[];
}

/** Runs one rollout in this process and keeps all that it said. */
export async function runSetup(setup: Setup): Promise<Ran> {
  const { tools = [echoTool()], sampling = {}, signal } = setup;
  const harness: Harness = {
    systemPrompt: setup.systemPrompt ?? "Be brief.",
    tools: new Map(tools.map((tool) => [tool.schema.name, tool])),
    processors: setup.processors ?? [],
    limits: limitsSchema.parse({ max_steps: 8, ...setup.limits }),
    allowlist: setup.allowlist && new Set(setup.allowlist),
  };
  const start = {
    ...{ type: "rollout-start", v: 1, rollout: "r", task: "t", split: "evolve", seed: 1, behaviour: "b" },
    ...{ model: { kind: "scripted", name: "scripted" }, sampling, tools: tools.map(({ schema }) => schema) },
  } as const;
  const events: TraceEvent[] = [start as TraceEvent];
  const requests: ModelRequest[] = [];
  const inner = setup.model ?? createScriptedModel(setup.replies);
  const model: Model = {
    ...inner,
    complete: (request, options) => {
      requests.push(structuredClone(request));
      return inner.complete(request, options);
    },
  };
  const result = await runAgent({
    harness,
    task: setup.task ?? "The task.",
    model,
    sampling,
    seed: 1,
    sink: (event) => events.push(event),
    policy: setup.policy ?? "fail-task",
    guided: setup.guided ?? false,
    ...(signal && { signal }),
  });
  return { result, events, requests };
}

/** A tool that says what it was given, or what `run` makes of it. */
export function echoTool(name = "echo", run?: (input: Record<string, unknown>) => unknown): ToolPart {
  return {
    schema: { name, description: `Says it back, as ${name}.`, inputSchema: { type: "object" } },
    async run(input) {
      const result = run ? await run(input) : `${name}: ${JSON.stringify(input)}`;
      return { result: result as string, isError: false };
    },
  };
}

type Hooks = { [Hook in HookName]?: (event: HookEvents[Hook]) => Iterable<unknown> };

/** A processor of plain functions; each value counts as it was when it was yielded. */
export function processor(
  name: string,
  hooks: Hooks,
  placed: Partial<Pick<ProcessorPart, "order" | "group" | "after">> = {},
): ProcessorPart {
  return {
    name,
    order: placed.order ?? 20,
    group: placed.group,
    after: placed.after ?? [],
    hooks: new Set(Object.keys(hooks) as HookName[]),
    async run(hook, event) {
      const values: unknown[] = [];
      for (const value of (hooks[hook] as (event: unknown) => Iterable<unknown>)(event))
        values.push(structuredClone(value));
      return values;
    },
  };
}

export function call(name: string, input: Record<string, unknown> = {}, id = ""): ToolCall {
  return { id, name, input };
}

export function calling(...toolCalls: ToolCall[]): ScriptedReply {
  return { toolCalls };
}

export function ofType<Type extends TraceEvent["type"]>(
  events: readonly TraceEvent[],
  type: Type,
): TraceEventOf<Type>[] {
  return events.filter((event): event is TraceEventOf<Type> => event.type === type);
}

/** The history at the end, as the events rebuild it. */
export function historyOf(events: readonly TraceEvent[]): Message[] {
  let history: Message[] = [];
  for (const event of events) {
    if (event.type === "messages-append") history = [...history, ...event.messages];
    if (event.type === "messages-replace") history = [...history.slice(0, event.keep), ...event.messages];
  }
  return history;
}
