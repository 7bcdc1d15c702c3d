import { openHarness } from "../agent/build.ts";
import { ProcessorFault, runHook } from "../agent/dispatch.ts";
import type { Harness } from "../agent/harness.ts";
import type { HookEvents, HookName } from "../agent/hooks.ts";
import type { ProcessorPart, ToolPart } from "../agent/parts.ts";
import { type Bench, sourcesOf } from "../bench/bench.ts";
import type { AuthoredPart } from "../config/harness.ts";
import type { TraceEvent } from "../trace/events.ts";
import { rebuildRequests } from "../trace/rebuild.ts";
import type { Finding } from "./check.ts";
import { hostileInputs, validInput } from "./example-inputs.ts";
import type { RunContext, Subject } from "./subject.ts";
import { specFile, specInputs } from "./tool-spec.ts";

const recordsTried = 4;
const plainTexts = ["an example", "42", "2026-03-01"];

/** Fires every new or changed part, in the fence, on inputs and events like those of a rollout. */
export async function checkDryFire(subject: Subject, context: RunContext): Promise<Finding[]> {
  const known = new Set(context.champion.parts.map((part) => part.codeHash));
  const fresh = subject.harness.parts.filter((part) => !known.has(part.codeHash));
  const spec = subject.frozen.files.get(specFile);
  const texts = spec === undefined ? plainTexts : specInputs(spec);
  const findings: Finding[] = [];
  for (const part of fresh) {
    if (part.kind === "tool") findings.push(...(await fireTool(part, texts, subject, context.bench)));
    else findings.push(...(await fireProcessor(part, subject, context)));
  }
  return findings;
}

async function fireTool(
  part: AuthoredPart,
  texts: string[],
  { harness }: Subject,
  bench: Bench,
): Promise<Finding[]> {
  const finding = (message: string, hint?: string): Finding => ({
    kind: "dry-fire",
    message,
    file: part.file,
    ...(hint && { hint }),
  });
  const opened = await openHarness(harness, sourcesOf(bench));
  try {
    const tool = opened.harness.tools.get(part.exportName);
    if (tool === undefined) return [finding(`${part.exportName} is not in the harness`)];
    const real = await outcomes(
      tool,
      texts.map((text) => validInput(tool.schema.inputSchema, text)),
    );
    const hostile = await outcomes(tool, hostileInputs(tool.schema.inputSchema));
    const dead = [...real, ...hostile].filter(({ result }) => /timeout after|its worker died/.test(result));
    const silent = [...real, ...hostile].filter(
      ({ result }) => result.trim() === "" || result.includes("returned nothing"),
    );
    const findings = [
      ...dead
        .slice(0, 1)
        .map(({ result }) =>
          finding(result.slice(0, 200), "A tool must end by itself, whatever it is given."),
        ),
      ...silent
        .slice(0, 1)
        .map(() => finding("returns nothing for some inputs", "Return `[name failed: reason]` instead.")),
    ];
    if (findings.length === 0 && real.every(({ isError }) => isError))
      findings.push(finding(`fails on every input of its spec: ${real[0]?.result.slice(0, 200) ?? "none"}`));
    return findings;
  } finally {
    await opened.close();
  }
}

async function outcomes(tool: ToolPart, inputs: Record<string, unknown>[]) {
  const results = [];
  for (const input of inputs) {
    const outcome = await tool.run(input);
    results.push(outcome);
    // One hang is proof enough; each more costs the whole time limit.
    if (outcome.result.includes("timeout after")) break;
  }
  return results;
}

async function fireProcessor(
  part: AuthoredPart,
  { harness }: Subject,
  { bench, records }: RunContext,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const record of [...records].sort(byLength).slice(0, recordsTried)) {
    const opened = await openHarness(harness, sourcesOf(bench));
    const processor = opened.harness.processors.find(({ name }) => name === part.exportName);
    const found = processor
      ? await fireOn(processor, opened.harness, record.events)
      : `${part.exportName} is not in the harness`;
    const faults = await opened.close();
    const problems = found === undefined ? faults : [found, ...faults];
    findings.push(...problems.map((message) => ({ kind: "dry-fire", message, file: part.file })));
    if (problems.length > 0) break;
  }
  return findings;
}

function byLength(a: { events: unknown[] }, b: { events: unknown[] }): number {
  return b.events.length - a.events.length;
}

/** Gives one processor, alone, every event that a recorded rollout would have given it, and some that it would not. */
async function fireOn(
  processor: ProcessorPart,
  harness: Harness,
  record: readonly TraceEvent[],
): Promise<string | undefined> {
  const used = new Set<HookName>();
  for (const { hook, event, step } of [...eventsOf(record, harness), ...syntheticEvents()]) {
    if (!processor.hooks.has(hook)) continue;
    used.add(hook);
    try {
      await runHook(hook, event as never, {
        processors: [processor],
        policy: "fail-task",
        sink: () => {},
        step,
      });
    } catch (error) {
      if (error instanceof ProcessorFault) return error.message;
      throw error;
    }
  }
  const missed = [...processor.hooks].filter((hook) => !used.has(hook));
  return missed.length === 0 ? undefined : `no event was found for ${missed.join(", ")}`;
}

interface Fired {
  hook: HookName;
  event: HookEvents[HookName];
  step: number;
}

function eventsOf(record: readonly TraceEvent[], harness: Harness): Fired[] {
  const maxSteps = harness.limits.max_steps;
  const requests = rebuildRequests(record);
  const fired: Fired[] = [];
  const task = requests[0]?.messages.find((message) => message.role === "user")?.content ?? "a task";
  fired.push({
    hook: "onTaskStart",
    step: 0,
    event: { type: "task-start", task, tools: [], systemPrompt: harness.systemPrompt },
  });
  for (const { step, messages, tools } of requests) {
    fired.push({ hook: "onStepStart", step, event: { type: "step-start", step, maxSteps, messages } });
    fired.push({
      hook: "onBeforeModel",
      step,
      event: { type: "before-model", step, maxSteps, tools, messages },
    });
  }
  for (const event of record) {
    if (event.type === "model-reply") {
      const { step, content, toolCalls, finishReason } = event;
      fired.push({
        hook: "onAfterModel",
        step,
        event: { type: "after-model", step, maxSteps, finishReason, content, toolCalls },
      });
      fired.push({ hook: "onStepEnd", step, event: { type: "step-end", step, maxSteps } });
    } else if (event.type === "rollout-end") {
      const { answer, exitReason, steps } = event;
      fired.push({ hook: "onTaskEnd", step: steps, event: { type: "task-end", answer, exitReason, steps } });
    }
  }
  return fired;
}

/** Tool events that any rollout may bring, whether or not the records have one. */
function syntheticEvents(): Fired[] {
  const call = { id: "call-1", name: "example_tool", input: { text: "an example" } };
  const results = [
    { result: "fine", isError: false },
    { result: `[example_tool failed: ${"long reason ".repeat(100)}]`, isError: true },
    { result: "x", isError: true },
  ];
  return results.flatMap(({ result, isError }, step): Fired[] => [
    { hook: "onBeforeTool", step, event: { type: "before-tool", step, call } },
    { hook: "onAfterTool", step, event: { type: "after-tool", step, call, isError, result } },
  ]);
}
