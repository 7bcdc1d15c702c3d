import type { Proposal } from "../../config/candidate-schema.ts";
import type { HarnessConfig, Lever } from "../../config/harness-schema.ts";
import type { TraceFacts } from "../../trace/facts.ts";
import type { Brief } from "../proposer.ts";

/** A candidate in the making: the champion's config and files, to be changed. */
export interface Draft {
  config: HarnessConfig;
  /** By path relative to the output directory. */
  files: Map<string, string>;
}

/** What the trajectories say for one stock part. */
export interface Diagnosis {
  /** What the ranking goes by, in (0, 1]: the share of the failing rollouts that it could help, less what speaks against it. */
  share: number;
  hypothesis: string;
  evidence: Proposal["evidence"];
  signature: Proposal["signature"];
  fixes: string[];
  risks?: string[];
  apply(draft: Draft): void;
  /** TOOL_SPEC.md, for a tool. */
  toolSpec?: string;
}

/** Facts of trajectories → lever → stock part. */
export interface Rule {
  lever: Lever;
  /** Undefined: nothing in the trajectories speaks for the part. */
  diagnose(brief: Brief): Diagnosis | undefined;
}

/** Whether the recipe lets a tool of this name be called at all; only a person can change that. */
export function mayCall({ spec }: Pick<Brief, "spec">, name: string): boolean {
  const allowed = spec?.allowlist ?? ["*"];
  return allowed.includes("*") || allowed.includes(name);
}

const citedTasks = 10;

/** Cites rollouts of different tasks from all over the list, each with a quote of one of its steps. */
export function cite(
  facts: readonly TraceFacts[],
  quoteOf: (fact: TraceFacts) => { step: number; quote: string } | undefined,
): Proposal["evidence"] {
  const first = new Map<string, Proposal["evidence"][number]>();
  for (const fact of facts) {
    const quote = first.has(fact.task) ? undefined : quoteOf(fact);
    if (quote) first.set(fact.task, { rollout: fact.rollout, ...quote });
  }
  return spread([...first.values()], citedTasks);
}

/** At most `count` items, evenly from beginning to end: neighbours in a list are often of one kind. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from(
    { length: count },
    (_, index) => items[Math.floor((index * items.length) / count)] as Item,
  );
}

/** The tasks of these rollouts, each once. */
export function tasksOf(facts: readonly TraceFacts[]): string[] {
  return [...new Set(facts.map((fact) => fact.task))].sort();
}

/** Text in one line, cut without leaving half of a surrogate pair. */
function cutLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, limit);
  return line.replace(/[\ud800-\udbff]$/, "").trim();
}

/** A line of a task that no other task shares, for quoting: plain text without back ticks. */
export function ownLine(fact: TraceFacts, all: readonly TraceFacts[]): string | undefined {
  const others = all.filter((other) => other.task !== fact.task).map((other) => other.taskHead);
  return fact.taskHead
    .split("\n")
    .map((line) => cutLine(line, 80))
    .find(
      (line) =>
        line.length >= 12 && !/[`\p{Cc}\p{Cs}]/u.test(line) && !others.some((head) => head.includes(line)),
    );
}

/** The last thing that was said, for quoting. */
export function lastSaid(fact: TraceFacts): { step: number; quote: string } | undefined {
  const said = fact.said.at(-1);
  const quote = said && cutLine(said.text, 160);
  return said && quote ? { step: said.step, quote } : undefined;
}
