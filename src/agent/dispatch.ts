import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { LorimerError, messageOf } from "../lib/errors.ts";
import type { TraceSink } from "../trace/events.ts";
import { type Message, messageSchema, toolCallSchema } from "../trace/messages.ts";
import { checkBeforeModel, checkStepStart, type Violation } from "./contract.ts";
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

/** The fields that each hook may change; nothing else of what comes back is looked at. */
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
  const fault = (message: string, violation?: Violation) =>
    new ProcessorFault(processor.name, hook, message, violation);
  const yielded = await processor.run(hook, current).catch((error: unknown) => {
    if (error instanceof LorimerError) throw error;
    throw fault(messageOf(error));
  });
  const triggers = yielded.flatMap((value) => triggerSchema.safeParse(value).data ?? []);
  const events = yielded.filter((value) => !triggerSchema.safeParse(value).success);
  if (events.length > 1) throw fault("yielded more than one event");
  const next = events.length === 0 ? undefined : applyChange(hook, current, events[0], fault);
  if (next !== undefined) holdContract(current, next, first, fault);

  const changed = next === undefined ? "blocked" : isDeepStrictEqual(next, current) ? "" : "changed";
  if (triggers.length === 0 && changed !== "") triggers.push({ type: "trigger", action: changed });
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

function applyChange<Hook extends HookName>(
  hook: Hook,
  current: HookEvents[Hook],
  value: unknown,
  fault: (message: string) => ProcessorFault,
): HookEvents[Hook] {
  if (typeof value !== "object" || value === null || (value as { type?: unknown }).type !== current.type)
    throw fault(`yielded something that is neither its event nor a trigger`);
  const parsed = changeable[hook].safeParse(value);
  if (!parsed.success) throw fault(z.prettifyError(parsed.error));
  const change = parsed.data as Partial<HookEvents[HookName]>;
  if ("call" in change && "call" in current) {
    const { id, name } = current.call;
    if (change.call?.id !== id || change.call.name !== name) throw fault("changed a call's id or name");
  }
  return { ...current, ...change };
}

/** Holds the message contract where messages may be changed at all. */
function holdContract(
  current: HookEvents[HookName],
  next: HookEvents[HookName],
  first: HookEvents[HookName],
  fault: (message: string, violation: Violation) => ProcessorFault,
): void {
  const violation = violationOf(current, next, first);
  if (violation) throw fault(`broke the message contract: ${violation}`, violation);
}

function violationOf(
  current: HookEvents[HookName],
  next: HookEvents[HookName],
  first: HookEvents[HookName],
): Violation | undefined {
  if (current.type === "step-start" && next.type === "step-start")
    return checkStepStart(current.messages, next.messages);
  if (current.type === "before-model" && next.type === "before-model" && first.type === "before-model") {
    const inserted = current.messages.length - first.messages.length;
    return checkBeforeModel(current.messages, next.messages, inserted);
  }
  return undefined;
}

/** Keeps the original object of every message that is unchanged, and says how many leading ones are. */
export function unchangedPrefix(before: readonly Message[], after: readonly Message[]): number {
  let index = 0;
  while (index < before.length && index < after.length && isDeepStrictEqual(before[index], after[index]))
    index++;
  return index;
}
