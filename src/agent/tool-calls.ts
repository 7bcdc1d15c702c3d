import { LorimerError, messageOf } from "../lib/errors.ts";
import type { Disposition, TraceSink } from "../trace/events.ts";
import type { Message, ToolCall } from "../trace/messages.ts";
import { ProcessorFault } from "./dispatch.ts";
import type { Harness } from "./harness.ts";
import type { AfterToolEvent, BeforeToolEvent } from "./hooks.ts";
import type { ToolOutcome } from "./parts.ts";

interface CallContext {
  harness: Harness;
  step: number;
  sink: TraceSink;
  /** Asked before each call; given: it does not run, for this reason. */
  hold(): Disposition | undefined;
  before(call: ToolCall): Promise<BeforeToolEvent | undefined>;
  after(call: ToolCall, outcome: ToolOutcome): Promise<AfterToolEvent | undefined>;
  dispatched: string[];
  refused: string[];
}

export interface TurnResults {
  /** One tool message for each call, in call order. */
  messages: Message[];
  /** A processor's fault that ends the rollout; the calls after it did not run. */
  fault: ProcessorFault | undefined;
}

/** Runs the calls of one turn in order; each gets exactly one tool message with its id, whatever happens. */
export async function runCalls(calls: readonly ToolCall[], context: CallContext): Promise<TurnResults> {
  const messages: Message[] = [];
  const ranThisTurn = new Set<string>();
  let fault: ProcessorFault | undefined;
  for (const call of calls) {
    const delivered = fault
      ? heldBack(call, "blocked", context, "a processor failed before it")
      : await runCall(call, ranThisTurn, context);
    fault ??= delivered.fault;
    messages.push(deliver(call, delivered, context));
  }
  return { messages, fault };
}

interface Delivered extends ToolOutcome {
  /** The tool's own text, if it ran. */
  raw?: string;
  fault?: ProcessorFault;
}

function deliver(call: ToolCall, { result, isError, raw }: Delivered, { step, sink }: CallContext): Message {
  const event = { type: "tool-result", step, callId: call.id, name: call.name, result, isError } as const;
  sink(raw === undefined || raw === result ? event : { ...event, raw });
  const message = { role: "tool", toolCallId: call.id, name: call.name, content: result } as const;
  return isError ? { ...message, isError } : message;
}

async function runCall(call: ToolCall, ranThisTurn: Set<string>, context: CallContext): Promise<Delivered> {
  const { harness, step, sink } = context;
  const keptBack = context.hold() ?? obstacle(call, ranThisTurn, harness);
  if (keptBack !== undefined) return heldBack(call, keptBack, context);
  const event = await context.before(call).catch(processorFault);
  if (event instanceof ProcessorFault)
    return { ...heldBack(call, "blocked", context, "a processor failed on it"), fault: event };
  if (event === undefined) return heldBack(call, "blocked", context);
  ranThisTurn.add(call.name);
  context.dispatched.push(call.name);
  sink({ type: "tool-call", step, call: event.call, disposition: "dispatched" });
  const outcome = await runTool(event.call, harness);
  const after = await context.after(event.call, outcome).catch(processorFault);
  if (after instanceof ProcessorFault) return { ...outcome, fault: after };
  const result = after?.result ?? `[${call.name}: it ran, and a processor withheld its result]`;
  return { result, isError: outcome.isError, raw: outcome.result };
}

/** A processor's fault, to be dealt with once the turn's results are whole; anything else goes on up. */
function processorFault(error: unknown): ProcessorFault {
  if (error instanceof ProcessorFault) return error;
  throw error;
}

function heldBack(
  call: ToolCall,
  disposition: Disposition,
  context: CallContext,
  why = explain(disposition, context.harness),
): Delivered {
  context.sink({ type: "tool-call", step: context.step, call, disposition });
  if (disposition === "refused") context.refused.push(call.name);
  return { result: `[${call.name} failed: ${why}]`, isError: true };
}

function obstacle(
  call: ToolCall,
  ranThisTurn: ReadonlySet<string>,
  harness: Harness,
): Disposition | undefined {
  if (harness.allowlist && !harness.allowlist.has(call.name)) return "refused";
  if (!harness.tools.has(call.name)) return "unknown";
  if (harness.limits.exclusive.includes(call.name) && ranThisTurn.has(call.name)) return "exclusive";
  return undefined;
}

/** A fault of the tool's is an outcome; a LorimerError is the fence's or the disk's, and ends the rollout. */
async function runTool(call: ToolCall, harness: Harness): Promise<ToolOutcome> {
  const failed = (reason: string) => ({ result: `[${call.name} failed: ${reason}]`, isError: true });
  try {
    const outcome = await harness.tools.get(call.name)?.run(call.input);
    return outcome?.result ? outcome : failed("returned nothing");
  } catch (error) {
    if (error instanceof LorimerError) throw error;
    return failed(messageOf(error));
  }
}

function explain(disposition: Disposition, { tools }: Harness): string {
  const known = tools.size === 0 ? "There are no tools." : `Tools: ${[...tools.keys()].join(", ")}.`;
  const reasons: Record<Disposition, string> = {
    dispatched: "",
    refused: "it is not on the allowlist, and was not run",
    unknown: `there is no tool of that name. ${known}`,
    blocked: "a processor blocked it",
    exclusive: "only one such call a turn; it was not run. Look at the first one's result",
    cut_off: "the reply was cut off, so none of its calls was run",
    last_step: "no turns are left to run tools",
    limit: "a limit of this task was reached before it",
  };
  return reasons[disposition];
}
