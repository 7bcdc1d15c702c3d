import type { TraceFacts } from "../../trace/facts.ts";
import type { Brief } from "../proposer.ts";

/** How an answer is marked: `ROUTE <route>` over the options of the decision. */
export interface AnswerForm {
  decision: string;
  marker: string;
  options: string[];
  /** What an answer of this form matches. */
  pattern: RegExp;
}

/**
 * The form that answers should have: the one that passing answers show, else the decision's name in capitals before one
 * of the recipe's public options. Undefined when the recipe offers no options.
 */
export function answerForm({ spec, passing }: Pick<Brief, "spec" | "passing">): AnswerForm | undefined {
  const [decision, options] =
    Object.entries(spec?.decisions ?? {}).flatMap(([name, { options: listed }]) =>
      listed ? [[name, listed] as const] : [],
    )[0] ?? [];
  if (decision === undefined || options === undefined) return undefined;
  const marker = seenMarker(passing, options) ?? decision.toUpperCase();
  const choices = options.map(escapePattern).join("|");
  return {
    decision,
    marker,
    options,
    pattern: new RegExp(`(^|\\n)\\W*${escapePattern(marker)}\\W+(${choices})\\b`),
  };
}

/** The word in capitals that most passing answers put before an option, if any does. */
function seenMarker(passing: readonly TraceFacts[], options: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  const pattern = new RegExp(
    `(?:^|\\n)\\W*([A-Z][A-Z_-]+)\\W+(?:${options.map(escapePattern).join("|")})\\b`,
  );
  for (const { answer } of passing) {
    const marker = pattern.exec(answer)?.[1];
    if (marker) counts.set(marker, (counts.get(marker) ?? 0) + 1);
  }
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
