import { existsSync } from "node:fs";
import { join } from "node:path";
import { type NoteDraft, needsSchema } from "../config/candidate-schema.ts";
import { readYaml, validateYaml } from "../config/yaml.ts";
import { LorimerError } from "../lib/errors.ts";
import { plainText } from "../trace/plain-text.ts";

/** The notes in a candidate's needs.yaml. A broken file is itself worth a note: a person should see that it was lost. */
export function readNeeds(dir: string): NoteDraft[] {
  const file = join(dir, "_meta_scratch", "needs.yaml");
  if (!existsSync(file)) return [];
  try {
    return validateYaml(needsSchema, readYaml(file, { root: "list" }));
  } catch (error) {
    if (!(error instanceof LorimerError)) throw error;
    return [
      {
        kind: "scope",
        ask: "Look at a proposer's needs.yaml, which cannot be read.",
        why: plainText(error.message.replaceAll(`${dir}/`, ""), 2000),
        evidence: [],
        blocking: false,
      },
    ];
  }
}
