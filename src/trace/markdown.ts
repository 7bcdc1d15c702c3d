import { oneLine, plainText } from "./plain-text.ts";
import type { ReadTrace, TraceStep } from "./steps.ts";

const maxBlockChars = 4000;
const maxInlineChars = 500;

/** What is known of a rollout besides its events; never the expected answer or the evaluator's reason. */
export interface TraceLabel {
  outcome: string;
  score: number | null;
}

/** A trajectory as Markdown with front matter, for people and proposers. */
export function renderTrace(trace: ReadTrace, label: TraceLabel): string {
  const { start, end, steps } = trace;
  const calls = steps.flatMap((step) => step.calls);
  const frontMatter = {
    rollout: start.rollout,
    task: start.task,
    split: start.split,
    seed: start.seed,
    model: `${start.model.kind}:${start.model.name}`,
    exit_reason: end?.exitReason ?? "unfinished",
    outcome: label.outcome,
    score: label.score,
    steps: end?.steps ?? steps.length,
    tool_calls: countBy(calls.map(({ call }) => call.name)),
    tool_errors: countBy(steps.flatMap((step) => step.results.filter((r) => r.isError).map((r) => r.name))),
    tokens: (end?.usage.inputTokens ?? 0) + (end?.usage.outputTokens ?? 0),
    cost_usd: end?.costUsd ?? 0,
    truncated: steps.some((step) => step.reply?.finishReason === "length"),
  };
  const opening = trace.opening.map((message) => `## ${message.role}\n\n${block(message.content)}`);
  const result = end
    ? [`## Result\n\n${end.exitReason}${end.error ? `: ${inline(end.error)}` : ""}\n\n${block(end.answer)}`]
    : [];
  return [`---\n${yamlOf(frontMatter)}\n---`, ...opening, ...steps.map(renderStep), ...result]
    .join("\n\n")
    .concat("\n");
}

/** JSON values are YAML too; plain words stand without their quotes. */
function yamlOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${isWord(value) ? value : JSON.stringify(value)}`)
    .join("\n");
}

function isWord(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^[a-z][a-z0-9_]*$/i.test(value) &&
    !/^(true|false|null|yes|no|on|off|[yn])$/i.test(value)
  );
}

function renderStep({ step, reply, calls, results, triggers, errors, nudges }: TraceStep): string {
  const lines = [`### Step ${step}`];
  for (const { reason } of nudges) lines.push(`*nudge: ${reason}*`);
  for (const { processor, hook, action, detail } of triggers)
    lines.push(`*${hook}:* ${inline(`${processor} ${action} ${detail}`)}`);
  for (const { hook, message } of errors) lines.push(`**${hook} failed:** ${inline(message)}`);
  if (reply?.content) lines.push(block(reply.content));
  for (const { call, disposition } of calls)
    lines.push(`call ${inline(call.name)} (${disposition})`, block(JSON.stringify(call.input)));
  for (const { name, result, isError } of results)
    lines.push(`${isError ? "error" : "result"} of ${inline(name)}`, block(result));
  return lines.join("\n\n");
}

/** Foreign text in a fence longer than any in it, so that it can never become Markdown of ours. */
function block(text: string): string {
  const cut = text.length - maxBlockChars;
  const shown = plainText(cut > 0 ? `${text.slice(0, maxBlockChars)}\n[cut: ${cut} characters]` : text);
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}

/** Foreign text as code within a line of ours, which it can neither end nor leave. */
function inline(text: string): string {
  return `\`${oneLine(text, maxInlineChars).replaceAll("`", "'") || " "}\``;
}

/** How often each name occurs. No object: a tool may be called `constructor`. */
function countBy(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names.map((raw) => oneLine(raw))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
