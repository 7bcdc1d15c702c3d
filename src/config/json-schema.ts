import { z } from "zod";
import { candidateSchema, needsSchema } from "./candidate-schema.ts";
import { harnessConfigSchema } from "./harness-schema.ts";
import { recipeSchema } from "./recipe-schema.ts";

const schemas = {
  config: harnessConfigSchema,
  recipe: recipeSchema,
  candidate: candidateSchema,
  needs: needsSchema,
} as const;

export type ConfigSchemaName = keyof typeof schemas;

/** The files whose JSON Schema `schemaOf` gives, sorted. */
export const configSchemaNames = Object.keys(schemas).sort() as ConfigSchemaName[];

/** JSON Schema (draft 2020-12) of what a person or proposer writes; defaults may be left out. */
export function schemaOf(name: ConfigSchemaName): Record<string, unknown> {
  return z.toJSONSchema(schemas[name], { io: "input" });
}
