import { tool } from "lorimer/tools";
import { z } from "zod";

const shown = 5;
const longestField = 120;
const longestLine = 400;

function textOf(value: unknown): string {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  return text.replace(/\s+/g, " ").trim();
}

function line(record: Record<string, unknown>, score: number, index: number): string {
  const fields = Object.entries(record)
    .map(([name, value]) => [name, textOf(value)] as const)
    .sort(([, a], [, b]) => Number(a.length > 40) - Number(b.length > 40))
    .map(([name, text]) => `${name}: ${text.slice(0, longestField)}`);
  return `${index + 1}. likeness ${score.toFixed(2)} | ${fields.join(" | ")}`.slice(0, longestLine);
}

/** Past records most like a text, each on a line with its short fields (labels among them) first. */
export const similar_records = tool({
  description:
    "Find the past records that are most similar to a text, with their labels, to compare it with.",
  input: z.object({
    text: z.string().min(1).describe("The text to compare with the past records"),
  }),
  async run({ text }, context) {
    const files = context.resources.filter((name) => name.endsWith(".jsonl"));
    if (files.length === 0) return "[similar_records failed: there are no past records]";
    const found = (await Promise.all(files.map((name) => context.rank(name, text, shown)))).flat();
    const best = found.sort((a, b) => b.score - a.score).slice(0, shown);
    if (best.length === 0) return "[similar_records failed: no past record is like this text]";
    return best.map(({ record, score }, index) => line(record, score, index)).join("\n");
  },
});
