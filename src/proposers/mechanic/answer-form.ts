import type { TraceFacts } from "../../trace/facts.ts";
import type { Brief } from "../proposer.ts";

/** How an answer is marked: `ROUTE <route>` over the options of the decision. */
export interface AnswerForm {
  decision: string;
  marker: string;
  /** What stands between marker and option: a space, `: `, … */
  separator: string;
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
  const { marker, separator } = seenMarker(passing, options) ?? {
    marker: decision.toUpperCase(),
    separator: " ",
  };
  const choices = options.map(escapePattern).join("|");
  return {
    decision,
    marker,
    separator,
    options,
    pattern: new RegExp(`(^|\\n)\\W*${escapePattern(marker)}\\W+(${choices})\\b`),
  };
}

/** The word in capitals that most passing answers put before an option, if any does, and what stands between. */
function seenMarker(
  passing: readonly TraceFacts[],
  options: readonly string[],
): { marker: string; separator: string } | undefined {
  const seen = new Map<string, { marker: string; separator: string; count: number }>();
  const choices = options.map(escapePattern).join("|");
  const pattern = new RegExp(`(?:^|\\n)\\W*([A-Z][A-Z_-]+)([^\\w\\n]{1,3})(?:${choices})\\b`);
  for (const { answer } of passing) {
    const [, marker, separator = " "] = pattern.exec(answer) ?? [];
    if (marker === undefined) continue;
    const key = marker + separator;
    seen.set(key, { marker, separator, count: (seen.get(key)?.count ?? 0) + 1 });
  }
  const [best] = [...seen].sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1));
  return best?.[1];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
