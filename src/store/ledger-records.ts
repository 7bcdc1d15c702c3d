import { z } from "zod";
import { levers } from "../config/harness-schema.ts";
import { exitReasons, modelKinds } from "../trace/events.ts";
import { noteSchema } from "./note-schema.ts";

/** The format of ledger.jsonl that this version writes and reads. */
export const ledgerVersion = 1;

const base = {
  v: z.literal(ledgerVersion),
  seq: z.number().int().min(1).describe("Decides the order; from 1 without a gap"),
  at: z.string().describe("When, for people only: a clock may be set back"),
};

const count = z.number().int().min(0);
const generation = count.describe("Generation number");
const candidate = z.string().describe("`R03-C01`");
const score = z.number().min(0).max(1);
const interval = z.tuple([z.number(), z.number()]);
/** What a step of the loop wants to keep beside its result; must be JSON. */
const numbers = z.record(z.string(), z.unknown());

const findingSchema = z.strictObject({
  kind: z.string(),
  message: z.string(),
  file: z.string().optional(),
  line: z.number().int().optional(),
  hint: z.string().optional(),
  warning: z.literal(true).optional().describe("No reason to refuse"),
});

const checkSchema = z.strictObject({
  name: z.string(),
  status: z.enum(["pass", "fail", "skipped"]),
  findings: z.array(findingSchema),
});

/** One line of ledger.jsonl. A new kind of record is one more member here; a member's fields are never changed. */
export const ledgerRecordSchema = z.discriminatedUnion("type", [
  z.strictObject({ ...base, type: z.literal("run-started"), run: z.string() }),
  z.strictObject({ ...base, type: z.literal("round-started"), round: count, champion: generation }),
  z.strictObject({ ...base, type: z.literal("rollout-started"), key: z.string() }),
  z.strictObject({
    ...base,
    type: z.literal("rollout-scored"),
    key: z.string().describe("The rollout's key: names its trajectory file"),
    score_key: z.string().describe("Key of rollout and evaluator together"),
    behaviour: z.string().describe("Behaviour hash of the harness"),
    task: z.string(),
    split: z.enum(["evolve", "gate", "test"]),
    seed: z.number().int(),
    model_kind: z.enum(modelKinds),
    purpose: z.string().describe("What it was paid for: observe, screen, confirm, score, control, …"),
    outcome: z.enum(["pass", "fail", "invalid", "infra"]),
    score: score.nullable().describe("Null when the outcome is invalid or infra: never a zero"),
    exit_reason: z.enum(exitReasons),
    steps: count,
    tool_calls: count,
    input_tokens: count,
    output_tokens: count,
    cost_usd: z.number().min(0),
    reason: z.string().optional().describe("The evaluator's own words: for the orchestrator and people only"),
  }),
  z.strictObject({
    ...base,
    type: z.literal("candidate-proposed"),
    candidate,
    round: count,
    proposer: z.string(),
    parent: generation,
    lever: z.enum(levers).nullable().describe("Null when nothing is proposed"),
    hypothesis: z.string(),
    hash: z.string().describe("sha256 of the frozen directory"),
    behaviour: z.string().nullable().describe("Behaviour hash; null when it cannot be loaded"),
    noop: z.string().optional().describe("Why nothing is proposed"),
  }),
  z.strictObject({
    ...base,
    type: z.literal("candidate-checked"),
    candidate,
    ok: z.boolean(),
    checks: z.array(checkSchema),
  }),
  z.strictObject({ ...base, type: z.literal("screened"), candidate, passed: z.boolean(), numbers }),
  z.strictObject({
    ...base,
    type: z.literal("verdict"),
    candidate,
    verdict: z.enum(["accept", "reject", "indecisive"]),
    reason: z.string(),
    numbers,
  }),
  z.strictObject({
    ...base,
    type: z.literal("committed"),
    generation,
    candidate: candidate.nullable().describe("Null for the baseline and for a rollback"),
    commit: z.string(),
    tree: z.string(),
    restores: generation.optional().describe("A rollback: the generation whose files it has"),
  }),
  z.strictObject({ ...base, type: z.literal("note-opened"), note: noteSchema }),
  z.strictObject({
    ...base,
    type: z.literal("note-answered"),
    id: z.string(),
    status: z.enum(["answered", "denied", "expired"]),
    answer: z.string(),
    by: z.string().optional(),
  }),
  z.strictObject({
    ...base,
    type: z.literal("control"),
    round: count,
    control: z.string(),
    verdict: z.string(),
    numbers,
  }),
  z.strictObject({
    ...base,
    type: z.literal("score-batch"),
    which: z.enum(["baseline", "champion"]),
    generation,
    score: score.nullable().describe("Mean on the gate split of rollouts that decided nothing"),
    n: count,
    interval: interval.nullable(),
    numbers,
  }),
  z.strictObject({
    ...base,
    type: z.literal("final"),
    generation,
    score: score.nullable(),
    n: count,
    interval: interval.nullable(),
    numbers,
  }),
  z.strictObject({ ...base, type: z.literal("run-ended"), stopped_by: z.string() }),
]);

export type LedgerRecord = z.infer<typeof ledgerRecordSchema>;
export type LedgerRecordType = LedgerRecord["type"];
export type LedgerRecordOf<Type extends LedgerRecordType> = Extract<LedgerRecord, { type: Type }>;
/** What is appended: the ledger itself adds `v`, `seq` and `at`. */
export type LedgerEntryOf<Type extends LedgerRecordType> = Omit<LedgerRecordOf<Type>, "v" | "seq" | "at">;
