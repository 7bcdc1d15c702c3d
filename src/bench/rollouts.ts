import pLimit from "p-limit";
import { openHarness } from "../agent/build.ts";
import { toolSchemas } from "../agent/harness.ts";
import { type AgentResult, runAgent } from "../agent/loop.ts";
import { PartError } from "../agent/parts.ts";
import type { LoadedHarness } from "../config/harness.ts";
import type { Task } from "../config/recipe-schema.ts";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { hashOf } from "../lib/hash.ts";
import type { Budget } from "../model/budget.ts";
import { worstCase } from "../model/create.ts";
import type { Ledger } from "../store/ledger.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import type { RunFolder } from "../store/run-folder.ts";
import { writeTrajectory } from "../store/trajectory.ts";
import type { TraceEvent } from "../trace/events.ts";
import { renderTrace } from "../trace/markdown.ts";
import { readTrace } from "../trace/steps.ts";
import { type Bench, type SplitName, sourcesOf, taskHash, userTurn } from "./bench.ts";
import { judge } from "./judge.ts";

export interface RolloutRequest {
  harness: LoadedHarness;
  task: Task;
  split: SplitName;
  seed: number;
}

export type ScoredRollout = LedgerRecordOf<"rollout-scored">;

/** Where results go, and what limits them. */
export interface RolloutDesk {
  bench: Bench;
  run: RunFolder;
  ledger: Ledger;
  budget: Budget;
  /** Aborted: what is in flight is finished and kept, nothing new starts. */
  signal: AbortSignal;
  onRollout?: (scored: ScoredRollout, how: "paid" | "memo") => void;
}

interface BatchOptions {
  /** What the batch is for; part of the record, never of the key. */
  purpose: string;
}

const attempts = 3;

/**
 * Runs a batch, in parallel, and returns its results in the order of `requests`. A result that the ledger holds is
 * taken from there; a new one is returned only when the ledger has it on disk.
 * @throws BudgetReached, or LorimerError `interrupted`, after what was in flight is recorded
 */
export async function runRollouts(
  desk: RolloutDesk,
  requests: readonly RolloutRequest[],
  { purpose }: BatchOptions,
): Promise<ScoredRollout[]> {
  const limit = pLimit(desk.bench.concurrency);
  let failure: unknown;
  const results = await Promise.all(
    requests.map((request) =>
      limit(async () => {
        if (failure !== undefined) return undefined;
        try {
          return await recorded(desk, request, purpose);
        } catch (error) {
          failure = error;
          return undefined;
        }
      }),
    ),
  );
  if (failure !== undefined) throw failure;
  return results.filter((result) => result !== undefined);
}

/** The key of a rollout: equal keys mean the same work, so it is never paid for twice. */
export function rolloutKey(bench: Bench, request: RolloutRequest): string {
  const { kind, name } = bench.model;
  return hashOf({
    behaviour: request.harness.behaviourHash,
    task: taskHash(request.task),
    resources: bench.resources.hash,
    split: request.split,
    seed: request.seed,
    model: { kind, name, config: bench.recipe.recipe.models.agent },
    runtime: bench.runtime,
  });
}

async function recorded(desk: RolloutDesk, request: RolloutRequest, purpose: string): Promise<ScoredRollout> {
  const { bench, ledger } = desk;
  const { harness } = request;
  const key = rolloutKey(bench, request);
  const known = ledger.scored(key, bench.evaluator.hash);
  if (known !== undefined) {
    desk.onRollout?.(known, "memo");
    return known;
  }
  if (desk.signal.aborted)
    throw new LorimerError("interrupted", "interrupted", { hint: "Go on with --resume." });
  const reserved = desk.budget.reserve(worstCase(bench.model, harness.config.limits.max_cost_usd));
  void ledger.append({ type: "rollout-started", key }).catch(() => {});
  const fields = await attempt(desk, request, key);
  reserved.settle(fields.cost_usd);
  const scored = await ledger.append({
    type: "rollout-scored",
    key,
    score_key: bench.evaluator.hash,
    behaviour: harness.behaviourHash,
    task: request.task.id,
    split: request.split,
    seed: request.seed,
    model_kind: bench.model.kind,
    purpose,
    ...fields,
  });
  desk.onRollout?.(scored, "paid");
  return scored;
}

type Fields = Pick<
  ScoredRollout,
  | "outcome"
  | "score"
  | "exit_reason"
  | "steps"
  | "tool_calls"
  | "input_tokens"
  | "output_tokens"
  | "cost_usd"
  | "reason"
>;

/** Tries a rollout until it has an outcome of its own; what the infrastructure broke is tried again, never scored. */
async function attempt(desk: RolloutDesk, request: RolloutRequest, key: string): Promise<Fields> {
  const spent = { steps: 0, tool_calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 };
  for (let tried = 1; ; tried++) {
    const events: TraceEvent[] = [];
    try {
      const { result } = await rollOut(desk.bench, request, key, events);
      const judged = await judge(desk.bench.evaluator, result, request.task);
      await keepTrajectory(desk.run, key, events, judged);
      return {
        ...judged,
        exit_reason: result.exitReason,
        steps: result.steps,
        tool_calls: result.dispatched.length,
        input_tokens: result.usage.inputTokens,
        output_tokens: result.usage.outputTokens,
        cost_usd: result.costUsd,
      };
    } catch (error) {
      if (!(error instanceof LorimerError) || error.code !== "infra") throw error;
      if (tried < attempts) continue;
      const broken = { outcome: "infra", score: null } as const;
      await keepTrajectory(desk.run, key, events, broken);
      return { ...spent, ...broken, exit_reason: "error", reason: error.message };
    }
  }
}

/** One rollout from start to end: its result, and every event of it. `events` gets them also when it breaks. */
export async function rollOut(
  bench: Bench,
  request: RolloutRequest,
  key: string,
  events: TraceEvent[] = [],
): Promise<{ result: AgentResult; events: TraceEvent[] }> {
  const { harness } = request;
  const opened = await openHarness(harness, sourcesOf(bench)).catch((error: unknown) => {
    if (error instanceof PartError) return error;
    throw error;
  });
  const { kind, name } = bench.model;
  const tools = opened instanceof PartError ? [] : toolSchemas(opened.harness);
  events.push({
    type: "rollout-start",
    v: 1,
    rollout: key,
    task: request.task.id,
    split: request.split,
    seed: request.seed,
    behaviour: harness.behaviourHash,
    model: { kind, name },
    sampling: bench.sampling,
    tools,
  });
  const result =
    opened instanceof PartError
      ? unbuilt(opened)
      : await runAgent({
          harness: opened.harness,
          task: userTurn(bench, request.task),
          model: bench.model,
          sampling: bench.sampling,
          seed: request.seed,
          sink: (event) => events.push(event),
          policy: bench.recipe.recipe.policy,
          guided: true,
        }).catch(async (error: unknown) => {
          await opened.close();
          throw error;
        });
  const faults = opened instanceof PartError ? [] : await opened.close();
  events.push(endEvent(result, faults));
  return { result, events };
}

function unbuilt(error: PartError): AgentResult {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const message = `${error.file}: ${messageOf(error)}`;
  return {
    exitReason: "error",
    answer: "",
    steps: 0,
    dispatched: [],
    refused: [],
    usage,
    costUsd: 0,
    error: message,
  };
}

function endEvent(result: AgentResult, faults: string[]): TraceEvent {
  const { exitReason, answer, steps, usage, costUsd, error } = result;
  const end = {
    type: "rollout-end",
    exitReason,
    answer,
    steps,
    toolCalls: result.dispatched.length,
    usage,
    costUsd,
    faults,
  } as const;
  return error === undefined ? end : { ...end, error };
}

async function keepTrajectory(
  run: RunFolder,
  key: string,
  events: TraceEvent[],
  label: Pick<Fields, "outcome" | "score">,
): Promise<void> {
  const trace = readTrace(events);
  await writeTrajectory(run.rolloutFile(key), events, trace && renderTrace(trace, label));
}
