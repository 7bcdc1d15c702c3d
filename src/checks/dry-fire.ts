import { ProcessorFault, runHook } from "../agent/dispatch.ts";
import type { OpenParts, ProcessorPart, ToolOutcome, ToolPart } from "../agent/parts.ts";
import { type Bench, sourcesOf } from "../bench/bench.ts";
import type { AuthoredPart, LoadedHarness } from "../config/harness.ts";
import { hashOf } from "../lib/hash.ts";
import type { Finding } from "./check.ts";
import { type Fired, recordedEvents, syntheticEvents } from "./example-events.ts";
import { hostileInputs, validInput } from "./example-inputs.ts";
import type { RunContext, Subject } from "./subject.ts";
import { specFile, specInputs } from "./tool-spec.ts";

const recordsTried = 4;
const plainTexts = ["an example", "42", "2026-03-01"];

/** Fires every new or changed part, in the fence, on inputs and events like those of a rollout. */
export async function checkDryFire(subject: Subject, context: RunContext): Promise<Finding[]> {
  const { harness, frozen } = subject;
  const spec = frozen.files.get(specFile);
  const texts = spec === undefined ? plainTexts : specInputs(spec);
  const findings: Finding[] = [];
  for (const part of newParts(harness, context.champion)) {
    const messages =
      part.kind === "tool"
        ? await fireTool(part, texts, harness, context.bench)
        : await fireProcessor(part, harness, context);
    findings.push(...messages.map((found) => ({ kind: "dry-fire", file: part.file, ...found })));
  }
  return findings;
}

/** Parts that the champion has not: by code, and by the options that processors are built with. */
export function newParts(harness: LoadedHarness, champion: LoadedHarness): AuthoredPart[] {
  const key = ({ kind, codeHash, options }: AuthoredPart) => hashOf([kind, codeHash, options]);
  const known = new Set(champion.parts.map(key));
  return harness.parts.filter((part) => !known.has(key(part)));
}

type Found = Pick<Finding, "message" | "hint">;

async function fireTool(
  part: AuthoredPart,
  texts: readonly string[],
  harness: LoadedHarness,
  bench: Bench,
): Promise<Found[]> {
  const { parts, opened } = await open(part, harness, bench);
  let findings: Found[] = [];
  try {
    findings = await fireAll(opened.tools[parts.indexOf(part)] as ToolPart, texts);
  } finally {
    const [fault] = await opened.close();
    if (fault !== undefined && findings.length === 0) findings = [{ message: fault }];
  }
  return findings;
}

async function fireAll(tool: ToolPart, texts: readonly string[]): Promise<Found[]> {
  const { name, inputSchema } = tool.schema;
  const real = await outcomes(
    tool,
    texts.map((text) => validInput(inputSchema, text)),
  );
  const all = [...real, ...(real.some(isDeath) ? [] : await outcomes(tool, hostileInputs(inputSchema)))];
  const dead = all.find(isDeath);
  if (dead)
    return [
      {
        message: dead.result.slice(0, 200),
        hint: "A tool must end by itself, whatever it is given.",
      },
    ];
  const silent = all.some(
    ({ result }) => result.trim() === "" || result === `[${name} failed: returned nothing]`,
  );
  if (silent)
    return [
      { message: "returns nothing for some inputs", hint: `Return \`[${name} failed: reason]\` instead.` },
    ];
  if (real.every(({ isError }) => isError))
    return [{ message: `fails on every input of its spec: ${real[0]?.result.slice(0, 200) ?? "none"}` }];
  return [];
}

async function outcomes(tool: ToolPart, inputs: readonly Record<string, unknown>[]): Promise<ToolOutcome[]> {
  const results: ToolOutcome[] = [];
  for (const input of inputs) {
    const outcome = await tool.run(input);
    results.push(outcome);
    // One is proof enough; each more costs the whole time limit, or a new worker.
    if (isDeath(outcome)) break;
  }
  return results;
}

/** The worker did not survive the call. */
function isDeath({ result }: ToolOutcome): boolean {
  return /timeout after|its worker (?:died|was stopped)/.test(result);
}

/** On each of a few records and on made-up events, anew each time: state is that of one rollout. */
async function fireProcessor(
  part: AuthoredPart,
  harness: LoadedHarness,
  { bench, records }: RunContext,
): Promise<Found[]> {
  const { max_steps: maxSteps } = harness.config.limits;
  const longest = [...records].sort((a, b) => b.events.length - a.events.length).slice(0, recordsTried);
  const rollouts = [
    ...longest.map(({ events }) => recordedEvents(events, { maxSteps, systemPrompt: harness.prompt })),
    syntheticEvents({ maxSteps, systemPrompt: harness.prompt }),
  ];
  for (const events of rollouts) {
    const { parts, opened } = await open(part, harness, bench);
    const fault = await fireOn(opened.processors[parts.indexOf(part)] as ProcessorPart, events);
    const faults = await opened.close();
    const [message = faults[0]] = fault === undefined ? [] : [fault];
    if (message !== undefined) return [{ message }];
  }
  return [];
}

/** The whole harness, opened for one rollout; a part is found by its place, since names can be alike. */
async function open(
  { kind }: AuthoredPart,
  harness: LoadedHarness,
  bench: Bench,
): Promise<{ parts: AuthoredPart[]; opened: OpenParts }> {
  const opened = await sourcesOf(bench).loader.open(harness.parts);
  return { parts: harness.parts.filter((part) => part.kind === kind), opened };
}

/** Gives one processor, alone, each event of its hooks; says what went wrong. */
async function fireOn(processor: ProcessorPart, events: readonly Fired[]): Promise<string | undefined> {
  for (const { hook, event, step } of events) {
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
  return undefined;
}
