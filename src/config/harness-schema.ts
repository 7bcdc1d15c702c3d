import { z } from "zod";

export const levers = ["tool", "processor", "prompt", "config"] as const;
export type Lever = (typeof levers)[number];

/** Tools that lorimer ships; a config names them in `tools.builtin`. */
export const builtinToolNames = ["Read", "Glob", "Grep"] as const;

/** Known names whose tool is not in this version: named so that a config gets a clear answer. */
export const absentToolNames = ["Write", "Edit", "Bash", "WebSearch", "WebFetch"] as const;

export const limitsSchema = z.strictObject({
  max_steps: z.number().int().min(1).max(500).default(20).describe("Model requests a rollout may make"),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .default(200_000)
    .describe("Tokens, in and out together, over the rollout"),
  max_cost_usd: z.number().min(0).default(1).describe("US dollars over the rollout"),
  max_seconds: z.number().min(0.1).default(300).describe("Wall-clock seconds over the rollout"),
  exclusive: z
    .array(z.string())
    .default([])
    .describe("Tools that change shared state: one call of each a turn, the others get an error result"),
});
export type Limits = z.infer<typeof limitsSchema>;

const processorEntrySchema = z
  .looseObject({ _target_: z.string().describe("`file://$GENERATION/processors/x.ts::ClassName`") })
  .describe("One processor: `_target_` and its options");

/** config.yaml: everything round the model that a generation may change. */
export const harnessConfigSchema = z.strictObject({
  prompt: z.string().describe("The system prompt: text, or `file://$GENERATION/prompts/x.md`"),
  skills: z
    .array(z.string())
    .default([])
    .describe(
      "`file://$GENERATION/skills/NAME/SKILL.md` each: a line in the prompt, the text by invoke_skill",
    ),
  processors: z.array(processorEntrySchema).default([]).describe("In list order where `order` ties"),
  tools: z
    .strictObject({
      builtin: z
        .array(z.string())
        .default([])
        .describe(`Any of ${builtinToolNames.join(", ")}`),
      custom: z.array(z.string()).default([]).describe("`file://$GENERATION/tools/x.ts::export_name` each"),
      allowlist: z
        .array(z.string())
        .nullable()
        .default(null)
        .describe(
          "Narrows the recipe's allowlist; a call outside it is refused; null: all of the config's tools",
        ),
    })
    .prefault({})
    .describe("`tool_registry` is accepted as another name"),
  limits: limitsSchema.prefault({}),
});
export type HarnessConfig = z.infer<typeof harnessConfigSchema>;
