import { hashOf } from "../lib/hash.ts";
import type { Model, ModelReply } from "../model/model.ts";
import type { ExitReason, TraceSink, Usage } from "../trace/events.ts";
import type { Message, ToolCall, ToolSchema } from "../trace/messages.ts";
import { ProcessorFault, type ProcessorPolicy, runHook, unchangedPrefix } from "./dispatch.ts";
import { type Guidance, guidanceFor } from "./guidance.ts";
import { type Harness, toolSchemas } from "./harness.ts";
import type { HookEvents, HookName } from "./hooks.ts";
import { runCalls } from "./tool-calls.ts";

export interface AgentRun {
  harness: Harness;
  /** The user turn. */
  task: string;
  model: Model;
  sampling: Record<string, unknown>;
  seed: number;
  sink: TraceSink;
  policy: ProcessorPolicy;
  /** Nudges, the budget warning and the kept last call; off for the bare loop of `buildHarnessRun`. */
  guided: boolean;
  signal?: AbortSignal;
}

export interface AgentResult {
  exitReason: ExitReason;
  answer: string;
  /** Model requests made. */
  steps: number;
  /** Names of the tools that ran, in order. */
  dispatched: string[];
  /** Names that were called against the allowlist. */
  refused: string[];
  usage: Usage;
  costUsd: number;
  error?: string;
}

/** Thrown inside to end the rollout with a reason. */
class Stop extends Error {
  readonly exitReason: ExitReason;

  constructor(exitReason: ExitReason, message = "") {
    super(message);
    this.exitReason = exitReason;
  }
}

/**
 * Model ⇄ tools until the agent is done or a limit is reached. Every call gets exactly one result. What a processor or
 * tool does wrong is in the result; only the model's and the fence's own failures are thrown.
 */
export async function runAgent(run: AgentRun): Promise<AgentResult> {
  const rollout = new Rollout(run);
  try {
    await rollout.start();
    for (let step = 0; step < rollout.maxSteps; step++) {
      rollout.checkLimits(step);
      const reply = await rollout.askModel(step);
      const ended = reply && (await rollout.act(step, reply));
      await rollout.hook("onStepEnd", { type: "step-end", step, maxSteps: rollout.maxSteps });
      if (ended) throw ended;
    }
    throw new Stop("max_steps");
  } catch (error) {
    return await rollout.end(error);
  }
}

/** The state of one rollout: its history, counters, and the steps of the loop. */
class Rollout {
  private readonly run: AgentRun;
  private readonly guidance: Guidance;
  private readonly tools: ToolSchema[];
  private readonly startedAt = performance.now();
  /** The effective track: what was appended, as onStepStart has rewritten it. The sink has the raw one. */
  private history: Message[] = [];
  private step = 0;
  private answer = "";
  private steps = 0;
  private costUsd = 0;
  private readonly usage = { inputTokens: 0, outputTokens: 0 };
  private readonly dispatched: string[] = [];
  private readonly refused: string[] = [];
  private readonly callIds = new Set<string>();

  constructor(run: AgentRun) {
    this.run = run;
    this.tools = toolSchemas(run.harness);
    this.guidance = guidanceFor(run.guided, run.harness.limits.max_steps);
  }

  get maxSteps(): number {
    return this.run.harness.limits.max_steps;
  }

  async start(): Promise<void> {
    const { harness, task } = this.run;
    const first = {
      type: "task-start",
      task,
      tools: this.tools,
      systemPrompt: harness.systemPrompt,
    } as const;
    const started = await this.hook("onTaskStart", first);
    const systemPrompt = started?.systemPrompt ?? harness.systemPrompt;
    const system: Message[] = systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }];
    this.append([...system, { role: "user", content: task }]);
  }

  /** Begins a step, unless a limit is reached. */
  checkLimits(step: number): void {
    this.step = step;
    const limit = this.limitReached();
    if (limit) throw limit;
    const note = this.guidance.beforeStep(step);
    if (note) this.nudge(step, note.reason, note.text);
  }

  private limitReached(): Stop | undefined {
    const { limits } = this.run.harness;
    if (this.run.signal?.aborted) return new Stop("timeout", "aborted");
    if (performance.now() - this.startedAt > limits.max_seconds * 1000) return new Stop("timeout");
    const tokens = this.usage.inputTokens + this.usage.outputTokens;
    if (tokens >= limits.max_tokens) return new Stop("budget", "max_tokens");
    // A limit of 0 allows what is free.
    if (this.costUsd > 0 && this.costUsd >= limits.max_cost_usd) return new Stop("budget", "max_cost_usd");
    return undefined;
  }

  /** One request. `undefined`: a processor dropped the step, the request or the turn. */
  async askModel(step: number): Promise<ModelReply | undefined> {
    const { maxSteps, tools } = this;
    if (!(await this.rewriteHistory(step))) return undefined;
    const sent = await this.hook("onBeforeModel", {
      type: "before-model",
      step,
      maxSteps,
      tools,
      messages: this.history,
    });
    if (sent === undefined) return undefined;
    const reply = await this.request(step, [...sent.messages]);
    const { content, finishReason } = reply;
    const after = await this.hook("onAfterModel", {
      type: "after-model",
      step,
      maxSteps,
      finishReason,
      content,
      toolCalls: this.withIds(reply.toolCalls, step),
    });
    if (after === undefined) return undefined;
    // Again: a processor may have put in calls of its own.
    const toolCalls = this.withIds(after.toolCalls, step);
    for (const { id } of toolCalls) this.callIds.add(id);
    return { ...reply, content: after.content, toolCalls };
  }

  private async request(step: number, messages: Message[]): Promise<ModelReply> {
    const { sampling, seed, model, signal, sink } = this.run;
    const request = { messages, tools: this.tools, sampling };
    const keep = unchangedPrefix(this.history, messages);
    const whole = keep === messages.length && keep === this.history.length;
    const overlay = whole ? {} : { keep, messages: messages.slice(keep) };
    sink({ type: "model-request", step, digest: hashOf(request), ...overlay });
    this.steps++;
    const reply = await model.complete({ ...request, seed }, signal ? { signal } : {});
    this.count(reply);
    sink({ type: "model-reply", step, ...reply });
    return reply;
  }

  /** Does what a reply says; why the rollout ends with it, if it does. */
  async act(step: number, reply: ModelReply): Promise<Stop | undefined> {
    if (reply.toolCalls.length === 0) return this.accept(step, reply);
    const { content, toolCalls } = reply;
    this.append([{ role: "assistant", content, toolCalls }]);
    const { messages, fault } = await runCalls(toolCalls, {
      harness: this.run.harness,
      step,
      sink: this.run.sink,
      hold: () => {
        if (reply.finishReason === "length") return "cut_off";
        if (this.guidance.holdCalls(step)) return "last_step";
        return this.limitReached() && "limit";
      },
      before: (call) => this.hook("onBeforeTool", { type: "before-tool", step, call }),
      after: (call, outcome) => this.hook("onAfterTool", { type: "after-tool", step, call, ...outcome }),
      dispatched: this.dispatched,
      refused: this.refused,
    });
    this.append(messages);
    if (fault) throw fault;
    return undefined;
  }

  /** Takes a reply without calls as the answer; if it is none, says why to the model and goes on. */
  private accept(step: number, reply: ModelReply): Stop | undefined {
    this.append([{ role: "assistant", content: reply.content }]);
    const objection = this.guidance.objectionTo(reply);
    if (objection === "give-up")
      return new Stop("format_errors", "the model kept sending empty or cut-off replies");
    if (objection === "go-on") return undefined;
    if (objection) {
      this.nudge(step, objection.reason, objection.text);
      return undefined;
    }
    this.answer = reply.content;
    return new Stop("done");
  }

  async hook<Hook extends HookName>(
    hook: Hook,
    event: HookEvents[Hook],
  ): Promise<HookEvents[Hook] | undefined> {
    const { harness, policy, sink } = this.run;
    return await runHook(hook, event, { processors: harness.processors, policy, sink, step: this.step });
  }

  async end(thrown: unknown): Promise<AgentResult> {
    const stop = thrown instanceof Stop || thrown instanceof ProcessorFault ? thrown : undefined;
    if (stop === undefined) throw thrown;
    const exitReason = stop instanceof Stop ? stop.exitReason : "error";
    const { answer, steps, dispatched, refused, usage, costUsd } = this;
    const end = { type: "task-end", answer, exitReason, steps } as const;
    const late = await this.hook("onTaskEnd", end).catch((error: unknown) => {
      if (error instanceof ProcessorFault) return error;
      throw error;
    });
    const fault = stop instanceof ProcessorFault ? stop : late instanceof ProcessorFault ? late : undefined;
    const result = {
      exitReason: fault ? ("error" as const) : exitReason,
      answer,
      steps,
      dispatched,
      refused,
      usage,
      costUsd,
    };
    const error = fault?.message ?? stop.message;
    return error === "" ? result : { ...result, error };
  }

  /** Lets `onStepStart` rewrite the history; false when a processor dropped the step. */
  private async rewriteHistory(step: number): Promise<boolean> {
    const event = { type: "step-start", step, maxSteps: this.maxSteps, messages: this.history } as const;
    const next = await this.hook("onStepStart", event);
    if (next === undefined) return false;
    const keep = unchangedPrefix(this.history, next.messages);
    if (keep === this.history.length && keep === next.messages.length) return true;
    const messages = next.messages.slice(keep);
    this.history = [...this.history.slice(0, keep), ...messages];
    this.run.sink({ type: "messages-replace", step, keep, messages });
    return true;
  }

  private append(messages: Message[]): void {
    this.history.push(...messages);
    this.run.sink({ type: "messages-append", messages });
  }

  private nudge(step: number, reason: Parameters<Guidance["note"]>[0], text: string): void {
    this.run.sink({ type: "nudge", step, reason });
    this.append([{ role: "user", content: text }]);
  }

  private count(reply: ModelReply): void {
    this.usage.inputTokens += reply.usage.inputTokens;
    this.usage.outputTokens += reply.usage.outputTokens;
    this.costUsd += reply.costUsd;
  }

  /** Plain calls, with an id of our own where the model gave none, or one that an earlier call has. */
  private withIds(calls: readonly ToolCall[], step: number): ToolCall[] {
    const taken = new Set(this.callIds);
    return calls.map((call, index) => {
      let { id } = call;
      for (let n = index; id === "" || taken.has(id); n++) id = `call-${step}-${n}`;
      taken.add(id);
      return { ...call, id, input: plainJson(call.input) };
    });
  }
}

/** As JSON holds it: what the fence, the disk and a replay will see is what the tool sees. */
function plainJson(input: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(input), (key, value: unknown) =>
    key === "__proto__" ? undefined : value,
  );
}
