import { hashOf } from "../lib/hash.ts";
import type { Model, ModelReply } from "../model/model.ts";
import type { ExitReason, TraceSink, Usage } from "../trace/events.ts";
import type { Message, ToolCall, ToolSchema } from "../trace/messages.ts";
import { checkTracks } from "./contract.ts";
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
    for (let step = 0; step < run.harness.limits.max_steps; step++) {
      rollout.checkLimits(step);
      const reply = await rollout.askModel(step);
      if (reply === undefined) continue;
      if (reply.toolCalls.length > 0) await rollout.runTools(step, reply);
      else if (rollout.accepts(step, reply)) throw new Stop("done");
      await rollout.hook("onStepEnd", { type: "step-end", step, maxSteps: rollout.maxSteps }, step);
    }
    throw new Stop("max_steps");
  } catch (error) {
    return await rollout.end(error);
  }
}

/** The state of one rollout: two message tracks, counters, and the steps of the loop. */
class Rollout {
  private readonly run: AgentRun;
  private readonly guidance: Guidance;
  private readonly tools: ToolSchema[];
  private readonly startedAt = performance.now();
  /** As recorded. */
  private raw: Message[] = [];
  /** What the model sees: raw, as onStepStart has rewritten it. */
  private effective: Message[] = [];
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
    const started = await this.hook("onTaskStart", first, 0);
    const systemPrompt = started?.systemPrompt ?? harness.systemPrompt;
    const system: Message[] = systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }];
    this.append([...system, { role: "user", content: task }]);
  }

  checkLimits(step: number): void {
    const { limits } = this.run.harness;
    if (this.run.signal?.aborted) throw new Stop("timeout", "aborted");
    if (performance.now() - this.startedAt > limits.max_seconds * 1000) throw new Stop("timeout");
    if (this.usage.inputTokens + this.usage.outputTokens >= limits.max_tokens)
      throw new Stop("budget", "max_tokens");
    if (limits.max_cost_usd > 0 && this.costUsd >= limits.max_cost_usd)
      throw new Stop("budget", "max_cost_usd");
    const note = this.guidance.beforeStep(step);
    if (note) this.nudge(step, note.reason, note.text);
  }

  /** One request. `undefined`: a processor dropped the request or the turn. */
  async askModel(step: number): Promise<ModelReply | undefined> {
    await this.rewriteHistory(step);
    const before = {
      type: "before-model",
      step,
      maxSteps: this.maxSteps,
      tools: this.tools,
      messages: this.effective,
    } as const;
    const sent = await this.hook("onBeforeModel", before, step);
    this.steps = step + 1;
    if (sent === undefined) return undefined;
    const messages = [...sent.messages];
    const { sampling, seed, model, signal } = this.run;
    const request = { messages, tools: this.tools, sampling };
    const keep = unchangedPrefix(this.effective, messages);
    const whole = keep === messages.length && keep === this.effective.length;
    const overlay = whole ? {} : { keep, messages: messages.slice(keep) };
    this.run.sink({ type: "model-request", step, digest: hashOf(request), ...overlay });

    const reply = await model.complete({ ...request, seed }, signal ? { signal } : {});
    this.count(reply);
    this.run.sink({ type: "model-reply", step, ...reply });
    const { content, toolCalls, finishReason } = reply;
    const after = await this.hook(
      "onAfterModel",
      {
        type: "after-model",
        step,
        maxSteps: this.maxSteps,
        finishReason,
        content,
        toolCalls: this.withIds(toolCalls, step),
      },
      step,
    );
    if (after === undefined) return undefined;
    return { ...reply, content: after.content, toolCalls: [...after.toolCalls] };
  }

  async runTools(step: number, reply: ModelReply): Promise<void> {
    const { content, toolCalls } = reply;
    this.append([{ role: "assistant", content, toolCalls }]);
    const results = await runCalls(toolCalls, {
      harness: this.run.harness,
      step,
      sink: this.run.sink,
      hold:
        reply.finishReason === "length" ? "cut_off" : this.guidance.holdCalls(step) ? "last_step" : undefined,
      before: (call) => this.hook("onBeforeTool", { type: "before-tool", step, call }, step),
      after: (call, outcome) =>
        this.hook("onAfterTool", { type: "after-tool", step, call, ...outcome }, step),
      dispatched: this.dispatched,
      refused: this.refused,
    });
    this.append(results);
  }

  /** Whether a reply without calls is the answer; if not, says why to the model and goes on. */
  accepts(step: number, reply: ModelReply): boolean {
    this.append([{ role: "assistant", content: reply.content }]);
    const objection = this.guidance.objectionTo(reply);
    if (objection === "give-up")
      throw new Stop("format_errors", "the model kept sending empty or cut-off replies");
    if (objection) this.nudge(step, objection.reason, objection.text);
    else this.answer = reply.content;
    return objection === undefined;
  }

  async hook<Hook extends HookName>(
    hook: Hook,
    event: HookEvents[Hook],
    step: number,
  ): Promise<HookEvents[Hook] | undefined> {
    const { harness, policy, sink } = this.run;
    return await runHook(hook, event, { processors: harness.processors, policy, sink, step });
  }

  async end(thrown: unknown): Promise<AgentResult> {
    const stop = thrown instanceof Stop || thrown instanceof ProcessorFault ? thrown : undefined;
    if (stop === undefined) throw thrown;
    const exitReason = stop instanceof Stop ? stop.exitReason : "error";
    const { answer, steps, dispatched, refused, usage, costUsd } = this;
    const end = { type: "task-end", answer, exitReason, steps } as const;
    const late = await this.hook("onTaskEnd", end, steps).catch((error: unknown) => {
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

  private async rewriteHistory(step: number): Promise<void> {
    const event = { type: "step-start", step, maxSteps: this.maxSteps, messages: this.effective } as const;
    const next = await this.hook("onStepStart", event, step);
    if (next === undefined) return;
    const keep = unchangedPrefix(this.effective, next.messages);
    if (keep === this.effective.length && keep === next.messages.length) return;
    const violation = checkTracks(this.raw, next.messages);
    if (violation)
      throw new ProcessorFault("processors", "onStepStart", `together broke ${violation}`, violation);
    const messages = next.messages.slice(keep);
    this.effective = [...this.effective.slice(0, keep), ...messages];
    this.run.sink({ type: "messages-replace", step, keep, messages });
  }

  private append(messages: Message[]): void {
    this.raw.push(...messages);
    this.effective.push(...messages);
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

  /** Mints an id where the model gave none, or one that this rollout has seen. */
  private withIds(calls: readonly ToolCall[], step: number): ToolCall[] {
    return calls.map((call, index) => {
      const id = call.id === "" || this.callIds.has(call.id) ? `call-${step}-${index}` : call.id;
      this.callIds.add(id);
      return id === call.id ? call : { ...call, id };
    });
  }
}
