import { z } from "zod";
import { levers } from "./harness-schema.ts";

export const evidenceSchema = z.strictObject({
  rollout: z.string().describe("Key of a rollout of the evolve split"),
  step: z.number().int().min(0),
  quote: z.string().min(1).describe("Text that stands in that step"),
});

/** candidate.yaml of a real proposal. */
export const proposalSchema = z.strictObject({
  parent: z.string().describe("The champion that it changes: `gen/0003`"),
  lever: z.enum(levers),
  hypothesis: z.string().min(1),
  evidence: z.array(evidenceSchema).min(1),
  predicts: z.strictObject({
    fixes: z.array(z.string()).default([]).describe("Evolve-split tasks expected to pass"),
    risks: z.array(z.string()).default([]),
  }),
  signature: z
    .strictObject({
      tool: z.string().optional(),
      processor: z.string().optional(),
      knob: z.string().optional(),
    })
    .describe("What shows in a trajectory that the change took effect"),
  why_not: z.partialRecord(z.enum(levers), z.string()).default({}).describe("Why not the other levers"),
});
export type Proposal = z.infer<typeof proposalSchema>;

export const noopSchema = z.strictObject({ noop: z.string().min(1).describe("Why nothing is proposed") });

/** candidate.yaml: a proposal, or the reason for none. */
export const candidateSchema = z.union([proposalSchema, noopSchema]);
export type CandidateFile = z.infer<typeof candidateSchema>;

export const noteKinds = [
  "dependency",
  "credential",
  "evaluator-bug",
  "scope",
  "decision",
  "bad-task",
] as const;

/** One entry of needs.yaml, as a proposer writes it. */
export const noteDraftSchema = z.strictObject({
  kind: z.enum(noteKinds),
  ask: z.string().min(1).max(500).describe("What a person should do or decide, one sentence"),
  why: z.string().min(1).max(2000),
  evidence: z.array(z.string()).default([]).describe("Rollout keys or quotes"),
  blocking: z.boolean().default(false),
});
export type NoteDraft = z.infer<typeof noteDraftSchema>;
export const needsSchema = z.array(noteDraftSchema).max(20);
