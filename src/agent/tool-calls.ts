import type { Disposition, TraceSink } from "../trace/events.ts";
import type { Message, ToolCall } from "../trace/messages.ts";
import type { Harness } from "./harness.ts";
import type { AfterToolEvent, BeforeToolEvent } from "./hooks.ts";
import type { ToolOutcome } from "./parts.ts";

interface CallContext {
  harness: Harness;
  step: number;
  sink: TraceSink;
  /** Given: no call of this step runs, for this reason. */
  hold: Disposition | undefined;
  before(call: ToolCall): Promise<BeforeToolEvent | undefined>;
  after(call: ToolCall, outcome: ToolOutcome): Promise<AfterToolEvent | undefined>;
  dispatched: string[];
  refused: string[];
}

/** Runs the calls of one turn in order; each gets exactly one tool message with its id, whatever happens. */
export async function runCalls(calls: readonly ToolCall[], context: CallContext): Promise<Message[]> {
  const results: Message[] = [];
  const ranThisTurn = new Set<string>();
  for (const call of calls) {
    const { result, isError, raw } = await runCall(call, ranThisTurn, context);
    const event = {
      type: "tool-result",
      step: context.step,
      callId: call.id,
      name: call.name,
      result,
      isError,
    } as const;
    context.sink(raw === undefined || raw === result ? event : { ...event, raw });
    const message = { role: "tool", toolCallId: call.id, name: call.name, content: result } as const;
    results.push(isError ? { ...message, isError } : message);
  }
  return results;
}

interface Delivered extends ToolOutcome {
  /** The tool's own text, if it ran. */
  raw?: string;
}

async function runCall(call: ToolCall, ranThisTurn: Set<string>, context: CallContext): Promise<Delivered> {
  const { harness, step, sink, hold } = context;
  const record = (disposition: Disposition, shown = call) =>
    sink({ type: "tool-call", step, call: shown, disposition });
  const keptBack = hold ?? obstacle(call, ranThisTurn, harness);
  if (keptBack !== undefined) {
    record(keptBack);
    if (keptBack === "refused") context.refused.push(call.name);
    return { result: explain(keptBack, call, harness), isError: true };
  }
  const event = await context.before(call);
  if (event === undefined) {
    record("blocked");
    return { result: explain("blocked", call, harness), isError: true };
  }
  ranThisTurn.add(call.name);
  context.dispatched.push(call.name);
  record("dispatched", event.call);
  const outcome = await runTool(event.call, harness);
  const after = await context.after(event.call, outcome);
  return {
    result: after?.result ?? explain("blocked", call, harness),
    isError: outcome.isError,
    raw: outcome.result,
  };
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

async function runTool(call: ToolCall, harness: Harness): Promise<ToolOutcome> {
  const outcome = await harness.tools.get(call.name)?.run(call.input);
  return outcome ?? { result: `[${call.name} failed: no such tool]`, isError: true };
}

function explain(disposition: Disposition, call: ToolCall, harness: Harness): string {
  const names = [...harness.tools.keys()];
  const known = names.length === 0 ? "There are no tools." : `Tools: ${names.join(", ")}.`;
  const reasons: Record<Disposition, string> = {
    dispatched: "",
    refused: "it is not on the allowlist, and was not run",
    unknown: `there is no tool of that name. ${known}`,
    blocked: "a processor blocked it",
    exclusive: "only one such call a turn; it was not run. Look at the first one's result",
    cut_off: "the reply was cut off, so none of its calls was run",
    last_step: "no turns are left to run tools",
  };
  return `[${call.name} failed: ${reasons[disposition]}]`;
}
