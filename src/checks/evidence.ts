import type { TraceEvent } from "../trace/events.ts";
import type { ToolCall } from "../trace/messages.ts";
import type { Finding } from "./check.ts";
import type { ChampionRecord, RunContext, Subject } from "./subject.ts";

const file = "_meta_scratch/candidate.yaml";

/** Every cited rollout and step exists and says what is claimed of it. */
export function checkEvidence({ proposal }: Subject, { records }: RunContext): Finding[] {
  return proposal.evidence.flatMap(({ rollout, step, quote }): Finding[] => {
    const record = records.find((candidate) => candidate.scored.key === rollout);
    const finding = (message: string) => [{ kind: "evidence", message, file }];
    if (record === undefined)
      return finding(`cites rollout ${rollout.slice(0, 12)}, which the champion has not on the evolve split`);
    const steps = Math.max(1, record.facts.steps);
    if (step >= steps)
      return finding(`cites step ${step} of rollout ${rollout.slice(0, 12)}, which has ${steps}`);
    if (!holds(textOfStep(record, step), quote))
      return finding(`step ${step} of rollout ${rollout.slice(0, 12)} does not say what is quoted`);
    return [];
  });
}

/** All text of one step: what the model was given in it and what came of it; the opening counts to step 0. */
function textOfStep({ events }: ChampionRecord, step: number): string {
  const opening =
    step === 0 ? (events.find((event) => event.type === "messages-append")?.messages ?? []) : [];
  return [
    ...opening.map((message) => message.content),
    ...events.flatMap((event) => textOf(event, step)),
  ].join("\n");
}

function textOf(event: TraceEvent, step: number): string[] {
  if (!("step" in event) || event.step !== step) return [];
  if (event.type === "model-reply") return [event.content, ...event.toolCalls.flatMap(textOfCall)];
  if (event.type === "tool-call") return textOfCall(event.call);
  if (event.type === "tool-result") return [event.result];
  if (event.type === "nudge") return [event.reason];
  if (event.type === "processor-error") return [event.message];
  return [];
}

/** A call as it may be quoted: its name, its input as JSON, and each text in it as it reads. */
export function textOfCall({ name, input }: ToolCall): string[] {
  return [name, JSON.stringify(input), ...textsIn(input)];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Whether `text` holds `quote`, white space aside; a blank quote stands nowhere. */
export function holds(text: string, quote: string): boolean {
  const flat = (value: string) => value.replace(/\s+/g, " ").trim();
  const wanted = flat(quote);
  return wanted !== "" && flat(text).includes(wanted);
}
