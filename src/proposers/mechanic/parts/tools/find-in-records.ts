import { tool } from "lorimer/tools";
import { z } from "zod";

const shown = 10;
const before = 60;
const longest = 200;

/** Lines of the resources that hold a piece of text, without regard to case. */
export const find_in_records = tool({
  description: "Look up the lines of the resource files that contain a given word or phrase.",
  input: z.object({
    phrase: z.string().min(2).describe("The word or phrase to look for, as it stands"),
  }),
  async run({ phrase }, context) {
    const wanted = phrase.toLowerCase();
    const hits: string[] = [];
    for (const name of context.resources) {
      const lines = (await context.resource(name)).split("\n");
      for (const [index, text] of lines.entries()) {
        const at = text.toLowerCase().indexOf(wanted);
        if (at === -1) continue;
        const start = Math.max(0, at - before);
        hits.push(`${name}:${index + 1}: ${text.slice(start, start + longest)}`);
      }
    }
    if (hits.length === 0)
      return `[find_in_records failed: nothing holds ${JSON.stringify(phrase.slice(0, 80))}]`;
    const rest = hits.length > shown ? `\n[${hits.length - shown} more lines hold it]` : "";
    return hits.slice(0, shown).join("\n") + rest;
  },
});
