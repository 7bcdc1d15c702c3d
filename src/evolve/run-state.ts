import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { allowlistOf, type Bench } from "../bench/bench.ts";
import { type RolloutDesk, type RolloutRequest, runRollouts, type ScoredRollout } from "../bench/rollouts.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { loadHarness } from "../config/load-harness.ts";
import type { LoadedRecipe } from "../config/load-recipe.ts";
import type { Task } from "../config/recipe-schema.ts";
import { seedOf } from "../lib/random.ts";
import type { Budget } from "../model/budget.ts";
import type { Proposer } from "../proposers/proposer.ts";
import { generationTag } from "../store/generation-history.ts";
import type { Generations } from "../store/generations.ts";
import type { Ledger } from "../store/ledger.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { RunListener } from "../trace/run-events.ts";
import type { LiteralCorpora } from "./literal-corpora.ts";

export interface EvolveLimits {
  rounds: number;
  candidates: number;
  patience: number;
  /** Milliseconds since the epoch after which no new round starts. */
  until: number | undefined;
}

/** One evolution of one recipe, opened: everything that its steps work with. */
export interface EvolveRun {
  bench: Bench;
  run: RunFolder;
  ledger: Ledger;
  generations: Generations;
  budget: Budget;
  literals: LiteralCorpora;
  seed: number;
  limits: EvolveLimits;
  proposers: readonly Proposer[];
  signal: AbortSignal;
  listen: RunListener;
}

/** The newest generation that stands. */
export interface Champion {
  generation: number;
  /** `gen/0003` */
  name: string;
  harness: LoadedHarness;
}

/** Exports a generation's tree and loads it from there: rollouts never read the repository. */
export async function loadGeneration(run: EvolveRun, generation: number): Promise<Champion> {
  mkdirSync(run.run.exportsDir, { recursive: true });
  const dir = await run.generations.exportTree(generation, run.run.exportsDir);
  return { generation, name: generationTag(generation), harness: loadOn(run.bench, dir) };
}

/** The folder of a recipe's generation 0. */
export function baselineDir({ dir, recipe }: LoadedRecipe): string {
  return resolve(dir, recipe.baseline);
}

/** Loads a harness under the recipe's ceilings and allowlist. */
export function loadOn(bench: Bench, dir: string): LoadedHarness {
  return loadHarness(dir, loadOptions(bench));
}

export function loadOptions({ recipe }: Bench) {
  return { ceilings: recipe.recipe.ceilings, allowlist: allowlistOf(recipe) };
}

/** One arm of a batch: which harness, on which tasks, with seeds named by what they are for. */
export interface Arm {
  harness: LoadedHarness;
  tasks: readonly Task[];
  split: "evolve" | "gate" | "test";
  /** Names the seeds; another name draws fresh ones. */
  seedName: readonly (string | number)[];
}

/** One pass of an arm: one rollout a task. Equal names give equal seeds, so a pass is never paid for twice. */
export async function runPass(run: EvolveRun, arm: Arm, purpose: string): Promise<ScoredRollout[]> {
  return await runRollouts(deskOf(run), requestsOf(run, arm), { purpose });
}

/** A pass of two arms over the same tasks, interleaved in one batch: whatever drifts, drifts in both. */
export async function runPairedPass(
  run: EvolveRun,
  arms: readonly [Arm, Arm],
  purpose: string,
): Promise<[ScoredRollout[], ScoredRollout[]]> {
  const [first, second] = arms.map((arm) => requestsOf(run, arm)) as [RolloutRequest[], RolloutRequest[]];
  const interleaved = first.flatMap((request, index) => [request, second[index] as RolloutRequest]);
  const scored = await runRollouts(deskOf(run), interleaved, { purpose });
  return [scored.filter((_, index) => index % 2 === 0), scored.filter((_, index) => index % 2 === 1)];
}

function requestsOf(run: EvolveRun, { harness, tasks, split, seedName }: Arm): RolloutRequest[] {
  return tasks.map((task) => ({ harness, task, split, seed: seedOf(run.seed, ...seedName, task.id) }));
}

function deskOf({ bench, run, ledger, budget, signal, listen }: EvolveRun): RolloutDesk {
  return {
    bench,
    run,
    ledger,
    budget,
    signal,
    onRollout: (scored, how) =>
      listen({ type: "rollout-done", how, costUsd: how === "paid" ? scored.cost_usd : 0 }),
  };
}

/** Mean score of what has one; undefined when nothing has. */
export function meanScore(rollouts: readonly { score: number | null }[]): number | undefined {
  const scores = rollouts.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
