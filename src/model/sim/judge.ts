import type { VisibleContext } from "./context.ts";
import { anyOption, type Decision } from "./decision.ts";

export interface Judgement {
  option: string;
  /** Labelled lines that spoke for the option, of how many; 0 of 0: there was nothing to go by. */
  agreeing: number;
  lines: number;
}

/**
 * Votes over the labelled lines in tool results and later user turns: a line with `field: option` in it. A line that
 * states its likeness (`likeness 0.41`) counts by it. With none the last option is the default.
 */
export function judge({ messages }: VisibleContext, decision: Decision): Judgement {
  const task = messages.find((message) => message.role === "user");
  const label = new RegExp(
    `\\b[\\w.-]{1,40}["']?\\s*[:=]\\s*["']?(${anyOption(decision)})(?=["'\\s,;|}.]|$)`,
  );
  const votes = messages
    .filter((message) => message !== task && (message.role === "tool" || message.role === "user"))
    .flatMap((message) => message.content.split("\n"))
    .flatMap((line) => {
      const option = label.exec(line)?.[1];
      return option === undefined ? [] : [{ option, weight: weightOf(line) }];
    });

  let best = { option: decision.options.at(-1) ?? "", weight: 0 };
  for (const { option } of votes) {
    const weight = sum(votes.filter((vote) => vote.option === option).map((vote) => vote.weight));
    if (weight > best.weight) best = { option, weight };
  }
  const agreeing = votes.filter((vote) => vote.option === best.option).length;
  return { option: best.option, agreeing, lines: votes.length };
}

function weightOf(line: string): number {
  const stated = /\b(?:likeness|similarity|score)\W{1,4}(\d+(?:\.\d+)?)/i.exec(line)?.[1];
  return stated === undefined ? 1 : Number(stated);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
