import { isDeepStrictEqual } from "node:util";
import type { EvaluatorConfig } from "../../config/recipe-schema.ts";
import type { Evaluate } from "./evaluator.ts";

type ConfigOf<Kind extends EvaluatorConfig["kind"]> = Extract<EvaluatorConfig, { kind: Kind }>;

/** The trimmed answer is the expected one. */
export function exact({ ignore_case }: ConfigOf<"exact">): Evaluate {
  const form = (text: string) => (ignore_case ? text.trim().toLowerCase() : text.trim());
  return ({ answer }, { expected }) => verdict(form(answer) === form(expected), answer, expected);
}

/** What the pattern finds in the answer (its first group, else the whole match) is the expected answer. */
export function regex({ pattern, flags }: ConfigOf<"regex">): Evaluate {
  return ({ answer }, { expected }) => {
    const match = new RegExp(pattern, flags.replace(/[gy]/g, "")).exec(answer);
    const found = match?.[1] ?? match?.[0] ?? "";
    return verdict(match !== null && found === expected, found, expected);
  };
}

/** The answer is JSON that equals the expected JSON, or whose `field` does. */
export function json({ field }: ConfigOf<"json">): Evaluate {
  return ({ answer }, { expected }) => {
    const found = parse(answer);
    const value =
      field === undefined ? found : (found as Record<string, unknown> | null | undefined)?.[field];
    const wanted = parse(expected) ?? expected;
    return verdict(value !== undefined && isDeepStrictEqual(value, wanted), answer, expected);
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}

function verdict(right: boolean, found: string, expected: string) {
  if (right) return { score: 1 };
  return {
    score: 0,
    reason: `expected ${JSON.stringify(expected)}, found ${JSON.stringify(found.slice(0, 200))}`,
  };
}
