import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { canonicalJson } from "../lib/hash.ts";
import type { TraceSink } from "../trace/events.ts";
import { type Message, messageSchema, toolCallSchema } from "../trace/messages.ts";
import { checkBeforeModel, checkStepStart, checkTracks, type Violation } from "./contract.ts";
import type { HookEvents, HookName } from "./hooks.ts";
import type { ProcessorPart } from "./parts.ts";

/** What a recipe wants when a processor throws: end the rollout as a fail, or go on without what it did. */
export type ProcessorPolicy = "fail-task" | "skip";

/** A processor threw, returned garbage or broke the contract. */
export class ProcessorFault extends Error {
  readonly processor: string;
  readonly hook: HookName;
  readonly violation: Violation | undefined;

  constructor(processor: string, hook: HookName, message: string, violation?: Violation) {
    super(`${processor} ${hook}: ${message}`);
    this.name = "ProcessorFault";
    this.processor = processor;
    this.hook = hook;
    this.violation = violation;
  }
}

const triggerSchema = z.looseObject({
  type: z.literal("trigger"),
  action: z.string().min(1).max(200),
  detail: z.string().max(2000).optional(),
});

/** The fields that each hook may change. */
const changeable = {
  onTaskStart: z.object({ systemPrompt: z.string() }),
  onStepStart: z.object({ messages: z.array(messageSchema) }),
  onBeforeModel: z.object({ messages: z.array(messageSchema) }),
  onAfterModel: z.object({ content: z.string(), toolCalls: z.array(toolCallSchema) }),
  onBeforeTool: z.object({ call: toolCallSchema }),
  onAfterTool: z.object({ result: z.string().min(1) }),
  onStepEnd: z.object({}),
  onTaskEnd: z.object({}),
} satisfies Record<HookName, z.ZodObject>;

/** Hooks that announce nothing which could be kept from happening: yielding nothing there passes the event on. */
const unblockable: ReadonlySet<HookName> = new Set(["onTaskStart", "onStepEnd", "onTaskEnd"]);

interface ChainContext {
  processors: readonly ProcessorPart[];
  policy: ProcessorPolicy;
  sink: TraceSink;
  step: number;
}

/** Runs one hook through all processors, in order. `undefined`: one of them yielded nothing, which blocks. */
export async function runHook<Hook extends HookName>(
  hook: Hook,
  event: HookEvents[Hook],
  context: ChainContext,
): Promise<HookEvents[Hook] | undefined> {
  let current = event;
  for (const processor of context.processors) {
    if (!processor.hooks.has(hook)) continue;
    try {
      const next = await runOne(hook, current, event, processor, context);
      if (next === undefined) return undefined;
      current = next;
    } catch (error) {
      if (!(error instanceof ProcessorFault)) throw error;
      context.sink({
        type: "processor-error",
        step: context.step,
        processor: error.processor,
        hook,
        message: error.message,
        ...(error.violation && { violation: error.violation }),
      });
      if (context.policy === "fail-task") throw error;
    }
  }
  return current;
}

async function runOne<Hook extends HookName>(
  hook: Hook,
  current: HookEvents[Hook],
  first: HookEvents[Hook],
  processor: ProcessorPart,
  context: ChainContext,
): Promise<HookEvents[Hook] | undefined> {
  const fault: Fault = (message, violation) => new ProcessorFault(processor.name, hook, message, violation);
  const yielded = await valuesOf(hook, current, processor, fault);
  const triggers = yielded.flatMap((value) => triggerSchema.safeParse(value).data ?? []);
  const events = yielded.filter((value) => !triggerSchema.safeParse(value).success);
  if (events.length > 1) throw fault("yielded more than one event");
  const passes = events.length === 0 && unblockable.has(hook);
  const next = passes
    ? current
    : events.length === 0
      ? undefined
      : applyChange(hook, current, events[0], fault);
  const changed = next !== undefined && !isDeepStrictEqual(next, current);
  if (changed) holdContract(current, next, first, fault);

  const silent = next === undefined ? "blocked" : changed ? "changed" : undefined;
  if (triggers.length === 0 && silent !== undefined) triggers.push({ type: "trigger", action: silent });
  for (const { action, detail = "" } of triggers)
    context.sink({
      type: "processor-trigger",
      step: context.step,
      processor: processor.name,
      hook,
      action,
      detail,
    });
  return next;
}

type Fault = (message: string, violation?: Violation) => ProcessorFault;

/** A processor gets a copy: what it does to it counts only if it yields it, and then it is checked. */
async function valuesOf(
  hook: HookName,
  event: HookEvents[HookName],
  processor: ProcessorPart,
  fault: Fault,
): Promise<unknown[]> {
  try {
    return await processor.run(hook, structuredClone(event));
  } catch (error) {
    if (error instanceof LorimerError) throw error;
    throw fault(messageOf(error));
  }
}

function applyChange<Hook extends HookName>(
  hook: Hook,
  current: HookEvents[Hook],
  value: unknown,
  fault: Fault,
): HookEvents[Hook] {
  if (typeof value !== "object" || value === null || (value as { type?: unknown }).type !== current.type)
    throw fault(`yielded something that is neither its event nor a trigger`);
  refuseOtherChanges(hook, current, value, fault);
  const parsed = changeable[hook].safeParse(value);
  if (!parsed.success) throw fault(z.prettifyError(parsed.error));
  const change = parsed.data as Partial<HookEvents[HookName]>;
  if ("call" in change && "call" in current) {
    const { id, name } = current.call;
    if (change.call?.id !== id || change.call.name !== name) throw fault("changed a call's id or name");
  }
  return { ...current, ...change };
}

/** A change that would be ignored is an error of its author's, who would never notice. */
function refuseOtherChanges(hook: HookName, current: object, value: object, fault: Fault): void {
  const known = new Map<string, unknown>(Object.entries(current));
  for (const [key, given] of Object.entries(value)) {
    if (key in changeable[hook].shape) continue;
    if (key === "messages") throw fault(`changed the messages, which ${hook} may not`, "window_out_of_scope");
    if (known.has(key) && !sameJson(given, known.get(key)))
      throw fault(`changed ${key}, which ${hook} may not`);
  }
}

function sameJson(a: unknown, b: unknown): boolean {
  try {
    return canonicalJson(a) === canonicalJson(b);
  } catch {
    return false;
  }
}

/** Holds the message contract where messages may be changed at all. */
function holdContract(
  current: HookEvents[HookName],
  next: HookEvents[HookName],
  first: HookEvents[HookName],
  fault: Fault,
): void {
  const violation = violationOf(current, next, first);
  if (violation) throw fault(`broke the message contract: ${violation}`, violation);
}

function violationOf(
  current: HookEvents[HookName],
  next: HookEvents[HookName],
  first: HookEvents[HookName],
): Violation | undefined {
  if (current.type === "step-start" && next.type === "step-start" && first.type === "step-start")
    return checkStepStart(current.messages, next.messages) ?? checkTracks(first.messages, next.messages);
  if (current.type === "before-model" && next.type === "before-model" && first.type === "before-model") {
    const inserted = current.messages.length - first.messages.length;
    return checkBeforeModel(current.messages, next.messages, inserted);
  }
  return undefined;
}

/** How many leading messages are the same in both. */
export function unchangedPrefix(before: readonly Message[], after: readonly Message[]): number {
  let index = 0;
  while (index < before.length && index < after.length && isDeepStrictEqual(before[index], after[index]))
    index++;
  return index;
}
