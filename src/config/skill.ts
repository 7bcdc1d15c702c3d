import { z } from "zod";
import { LorimerError } from "../lib/errors.ts";
import type { Skill } from "./harness.ts";
import { parseYamlText, validateYaml } from "./yaml.ts";

const frontMatterSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "letters, digits, - and _, at most 64"),
  description: z.string().trim().min(1).max(1000),
});

/**
 * A SKILL.md: YAML front matter with name and description, then the text.
 * @throws LorimerError `config`: `path:line:column: what`.
 */
export function parseSkill(text: string, path: string): Skill {
  const found = /^---[ \t]*\n([\s\S]*?\n)??---[ \t]*(?:\n|$)/.exec(text);
  if (found === null) {
    throw new LorimerError("config", `${path}:1:1: no front matter`, {
      hint: "Begin the file with `---`, `name: …`, `description: …`, `---`.",
    });
  }
  // An empty line for the first `---`, so that lines are counted as in the file.
  const front = validateYaml(frontMatterSchema, parseYamlText(`\n${found[1] ?? ""}`, { path }));
  return {
    name: front.name,
    description: front.description.replace(/\s+/g, " "),
    text: text.slice(found[0].length).replace(/^\n+/, ""),
  };
}
