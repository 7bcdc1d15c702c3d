import { isDeepStrictEqual } from "node:util";
import type { EvaluatorConfig, Task } from "../../config/recipe-schema.ts";
import type { Evaluate, Right } from "./evaluator.ts";

type ConfigOf<Kind extends EvaluatorConfig["kind"]> = Extract<EvaluatorConfig, { kind: Kind }>;

/** The trimmed answer is the expected one. */
export function exact({ ignore_case }: ConfigOf<"exact">): Evaluate {
  const form = (text: string) => (ignore_case ? text.trim().toLowerCase() : text.trim());
  return ({ answer }, { expected }) => verdict(form(answer) === form(expected), answer, expected);
}

/** What the pattern finds in the answer (its first group, else the whole match) is the expected answer. */
export function regex({ pattern, flags }: ConfigOf<"regex">): Evaluate {
  const compiled = new RegExp(pattern, flags.replace(/[gy]/g, ""));
  return ({ answer }, { expected }) => {
    const match = compiled.exec(answer);
    const found = match?.[1] ?? match?.[0] ?? "";
    return verdict(match !== null && found === expected, found, expected);
  };
}

/**
 * What surrounds a group is not known from the expected answer, so a right one can be told only of a pattern without, or
 * of an expected answer that the pattern finds something in: that must then be all of it.
 */
export function rightByRegex(config: ConfigOf<"regex">, { expected }: Task): Right | undefined {
  const flags = config.flags.replace(/[gy]/g, "");
  const groups = (new RegExp(`${config.pattern}|`, flags).exec("")?.length ?? 1) - 1;
  const told = groups === 0 || new RegExp(config.pattern, flags).test(expected);
  return told ? { answer: expected, dispatched: [] } : undefined;
}

/** The answer is JSON that equals the expected JSON, or whose `field` does. */
export function json({ field }: ConfigOf<"json">): Evaluate {
  return ({ answer }, { expected }) => {
    const found = parse(answer);
    const value = field === undefined ? found : fieldOf(found, field);
    return verdict(value !== undefined && isDeepStrictEqual(value, wanted(expected)), answer, expected);
  };
}

export function rightByJson({ field }: ConfigOf<"json">, { expected }: Task): Right {
  const value = wanted(expected);
  return { answer: JSON.stringify(field === undefined ? value : { [field]: value }), dispatched: [] };
}

/** An expected answer that is no JSON stands for itself, as a string. */
function wanted(expected: string): unknown {
  const value = parse(expected);
  return value === undefined ? expected : value;
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Record<string, unknown>)[field];
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
