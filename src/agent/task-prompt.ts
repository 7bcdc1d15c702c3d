import type { Spec, Task } from "../config/recipe-schema.ts";

type SpecParts = Pick<Spec, "name" | "trigger" | "inputs" | "decisions" | "writeback">;

/** The user turn of one task. Inputs come last: a long one must not push the decisions out of sight. */
export function renderTask(spec: SpecParts | undefined, input: Task["input"]): string {
  if (spec === undefined)
    return typeof input === "string" ? input : inputLines(Object.keys(input), input).join("\n");
  const given = typeof input === "string" ? { [spec.inputs[0] ?? "input"]: input } : input;
  const names = [...new Set([...spec.inputs, ...Object.keys(given)])];
  return [
    `Task: ${spec.name}`,
    `Trigger: ${spec.trigger}`,
    "Decisions:",
    ...Object.entries(spec.decisions).map(([name, decision]) => `- ${name}: ${describeDecision(decision)}`),
    `Write the decision to: ${spec.writeback}`,
    "Inputs:",
    ...inputLines(names, given),
  ].join("\n");
}

function describeDecision({ options, reversible }: Spec["decisions"][string]): string {
  const choice = options === undefined ? "free" : `one of ${options.join(", ")}`;
  return `${choice} (${reversible ? "reversible" : "not reversible"})`;
}

function inputLines(names: readonly string[], given: Readonly<Record<string, string>>): string[] {
  // What is missing is said first: it is short, and would be lost behind a long input.
  const missing = names
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => `- ${name}: not provided`);
  const present = Object.entries(given).map(([name, text]) => `- ${name}: ${text}`);
  return [...missing, ...present];
}
