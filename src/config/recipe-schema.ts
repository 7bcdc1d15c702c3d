import { z } from "zod";

export const taskSchema = z.strictObject({
  id: z.string().min(1).describe("Never shown to the agent"),
  input: z
    .union([z.string(), z.record(z.string(), z.string())])
    .describe("Text, or the spec's inputs by name"),
  expected: z.string().describe("The right answer: only the evaluator sees it"),
  group: z.string().optional().describe("Tasks of one group never span splits or resources"),
});
export type Task = z.infer<typeof taskSchema>;

export const specSchema = z.strictObject({
  name: z.string(),
  trigger: z.string().describe("What starts a task, in words"),
  inputs: z.array(z.string()).describe("Declared inputs; one that a task lacks is stated as `not provided`"),
  decisions: z
    .record(
      z.string(),
      z.strictObject({ options: z.array(z.string()).optional(), reversible: z.boolean().default(true) }),
    )
    .describe("What the agent decides; its options are public and shown in the user turn"),
  writeback: z.string().describe("Where the decision is written"),
  eval_gate: z.strictObject({
    must_call: z.string().nullable().default(null).describe("A tool that must have been dispatched, if any"),
    must_include: z
      .string()
      .nullable()
      .default(null)
      .describe("Text that the answer must have; null: the task's expected answer"),
    max_iters: z.number().int().min(1).describe("Steps above which a rollout fails"),
  }),
  allowlist: z.array(z.string()).describe("Tools that may be called; `*` allows every tool of the harness"),
});
export type Spec = z.infer<typeof specSchema>;

export const evaluatorSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("exact"), ignore_case: z.boolean().default(false) }),
  z.strictObject({
    kind: z.literal("regex"),
    pattern: z.string().describe("Its first group (or whole match) is compared with the expected answer"),
    flags: z.string().default(""),
  }),
  z.strictObject({
    kind: z.literal("json"),
    field: z.string().optional().describe("Compare this field of the answer's JSON; absent: all of it"),
  }),
  z.strictObject({ kind: z.literal("eval_gate") }),
  z.strictObject({
    kind: z.literal("module"),
    module: z
      .string()
      .describe("A trusted module of the recipe; exports `evaluate(answer, task)` → score in [0, 1]"),
  }),
]);
export type EvaluatorConfig = z.infer<typeof evaluatorSchema>;

export const modelSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("sim"),
    name: z.string().default("lorimer-sim"),
    context_chars: z.number().int().min(200).default(4000).describe("What lies past it is ignored"),
    compliance: z.number().min(0).max(1).default(0.985).describe("Chance of obeying a directive"),
    habit: z.number().min(0).max(1).default(0.2).describe("Chance of a marked answer that nobody asked for"),
    sampling: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({
    kind: z.literal("scripted"),
    name: z.string().default("scripted"),
    replies: z.array(z.string()).min(1).describe("Final answers; the rollout's seed picks one"),
    sampling: z.record(z.string(), z.unknown()).default({}),
  }),
]);
export type ModelConfig = z.infer<typeof modelSchema>;

/** recipe.yaml: a user's own file, trusted. */
export const recipeSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "lower-case letters, digits and dashes"),
  tasks: z
    .union([
      z.strictObject({ file: z.string(), group: z.string().optional() }),
      z.strictObject({
        module: z.string().describe("Exports `loadTasks(context)` → {tasks, resources?}"),
        options: z.record(z.string(), z.unknown()).default({}),
      }),
    ])
    .describe("JSON lines of tasks, or a trusted module of the recipe"),
  splits: z
    .strictObject({
      evolve: z.number().int().min(1).describe("Tasks whose trajectories the proposers see"),
      gate: z.number().int().min(1).describe("Tasks that decide acceptance"),
      test: z.number().int().min(0).default(0).describe("Sealed tasks, scored once by `lorimer final`"),
      seed: z.number().int().optional().describe("Draws the splits; absent: the run's seed"),
    })
    .describe("Drawn by group, balanced over the expected answers where few answers are shared"),
  evaluator: evaluatorSchema,
  spec: specSchema.optional(),
  baseline: z.string().default("baseline").describe("Folder of generation 0"),
  resources: z.string().optional().describe("Folder of files that tools may read"),
  models: z.strictObject({ agent: modelSchema }),
  budgets: z
    .strictObject({
      rounds: z.number().int().min(1).default(6),
      candidates: z.number().int().min(1).max(20).default(3).describe("Candidates a round"),
      patience: z.number().int().min(1).default(2).describe("Rounds without an acceptance before stopping"),
      rollouts: z.number().int().min(1).default(20_000).describe("Rollouts that the whole run may pay for"),
      usd: z.number().min(0).default(0).describe("US dollars that the whole run may spend"),
      alpha: z
        .number()
        .min(0.0001)
        .max(0.5)
        .default(0.1)
        .describe("Chance that a run accepts any useless change"),
      passes: z.number().int().min(1).max(64).default(8).describe("Confirmation passes before `indecisive`"),
      scoring_passes: z.number().int().min(1).default(3).describe("Passes of the batch that decides nothing"),
    })
    .prefault({}),
  ceilings: limitsCeilings(),
  sandbox: z
    .enum(["full", "partial", "weak"])
    .default("partial")
    .describe("The weakest fence that may be used"),
  policy: z.enum(["fail-task", "skip"]).default("fail-task").describe("When a processor throws in a run"),
  proposers: z
    .array(z.enum(["mechanic"]))
    .min(1)
    .default(["mechanic"]),
  controls: z
    .strictObject({
      null_every: z.number().int().min(0).default(3).describe("Rounds between null controls; 0: none"),
      memoriser: z.boolean().default(false).describe("Offer a memorising candidate as a control, twice"),
    })
    .prefault({}),
  playbook: z.string().optional().describe("File of what a proposer should know of this benchmark, in words"),
});
export type Recipe = z.infer<typeof recipeSchema>;

function limitsCeilings() {
  return z
    .strictObject({
      max_steps: z.number().int().min(1).default(50),
      max_tokens: z.number().int().min(1).default(1_000_000),
      max_cost_usd: z.number().min(0).default(1),
      max_seconds: z.number().min(0.1).default(600),
    })
    .prefault({})
    .describe("A config.yaml may not go above these");
}
