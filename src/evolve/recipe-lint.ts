import type { Bench } from "../bench/bench.ts";
import type { Task } from "../config/recipe-schema.ts";
import { messageOf } from "../lib/errors.ts";
import { confirmationAlpha } from "../stats/alpha-budget.ts";
import { detectableEffect } from "../stats/power.ts";

/** What is legal in a recipe and yet hardly meant. One sentence each. */
export function doubtsAbout(
  { recipe: { recipe }, splits }: Bench,
  resources: ReadonlyMap<string, string>,
): string[] {
  const tasks = Object.values(splits).flat();
  return [
    ...unknownInputs(tasks, recipe.spec?.inputs),
    ...answersWithoutOption(
      tasks,
      Object.values(recipe.spec?.decisions ?? {}).flatMap(({ options = [] }) => options),
    ),
    ...brokenRecords(resources),
  ];
}

/** In words, what difference the gate split can show at all. */
export function powerOf({ recipe: { recipe }, splits }: Bench): { text: string; enough: boolean } {
  const { alpha, passes } = recipe.budgets;
  const tasks = splits.gate.length;
  const study = { tasks, passes, alpha: confirmationAlpha(alpha, 1), power: 0.8, baseRate: 0.5 };
  const effect = detectableEffect(study);
  const seen = effect === undefined ? "no effect" : `an effect of about +${effect.toFixed(2)} or more`;
  return {
    text: `${tasks} gate tasks, at most ${passes} passes: ${seen} from 0.50 is seen 8 times in 10, by the first confirmation`,
    enough: effect !== undefined && effect <= 0.25,
  };
}

function unknownInputs(tasks: readonly Task[], declared: readonly string[] | undefined): string[] {
  if (declared === undefined) return [];
  const given = new Set(tasks.flatMap(({ input }) => (typeof input === "string" ? [] : Object.keys(input))));
  const unknown = [...given].filter((name) => !declared.includes(name));
  return unknown.map(
    (name) => `tasks have an input ${name} that spec.inputs (${declared.join(", ")}) does not name`,
  );
}

function answersWithoutOption(tasks: readonly Task[], options: readonly string[]): string[] {
  if (options.length === 0) return [];
  const odd = [...new Set(tasks.map(({ expected }) => expected))].filter(
    (answer) => !options.some((option) => answer.includes(option)),
  );
  if (odd.length === 0) return [];
  return [
    `expected answers that hold none of the options (${options.join(", ")}): ${odd
      .slice(0, 3)
      .map((answer) => JSON.stringify(answer))
      .join(", ")}`,
  ];
}

function brokenRecords(resources: ReadonlyMap<string, string>): string[] {
  return [...resources].flatMap(([name, text]) => {
    if (!name.endsWith(".jsonl")) return [];
    for (const [index, line] of text.split("\n").entries()) {
      try {
        if (line.trim() !== "") JSON.parse(line);
      } catch (error) {
        return [
          `resource ${name}:${index + 1} is not JSON (${messageOf(error)}); tools that read it will fail`,
        ];
      }
    }
    return [];
  });
}
