import { LorimerError } from "../lib/errors.ts";
import { BudgetReached } from "../model/budget.ts";
import { begin } from "./begin.ts";
import { commit } from "./commit.ts";
import { runControls } from "./controls.ts";
import { diagnose } from "./diagnose.ts";
import { confirm, screen } from "./evaluate.ts";
import { type Observed, observe } from "./observe.ts";
import { propose } from "./propose.ts";
import type { Champion, EvolveRun } from "./run-state.ts";
import { scoreChampion } from "./score.ts";
import { validate } from "./validate.ts";

/**
 * Evolves a recipe: observe → diagnose → propose → validate → evaluate → decide → commit, once a round, until a limit.
 * Every step is a function of the seed and the ledger: run again on the same ledger, it goes through the same steps
 * without paying, and on from where it was stopped. Returns what stopped it.
 */
export async function evolve(run: EvolveRun): Promise<string> {
  let champion = await begin(run);
  let observed: Observed | undefined;
  let barren = 0;
  let stoppedBy: string | undefined;

  for (let round = 1; stoppedBy === undefined; round++) {
    stoppedBy = limitReached(run, round, barren);
    if (stoppedBy !== undefined) break;
    try {
      await startRound(run, champion, round);
      observed ??= await observe(run, champion);
      const next = await runRound(run, champion, observed, round);
      if (next === "exhausted") stoppedBy = "nothing left to propose";
      else if (next === undefined) barren++;
      else [champion, observed, barren] = [next, undefined, 0];
      if (next !== "exhausted") await runControls(run, champion, round);
      run.listen({ type: "round-end", round });
    } catch (error) {
      if (!(error instanceof BudgetReached)) throw error;
      stoppedBy = error.message;
    }
  }

  return await finish(run, champion, stoppedBy ?? "");
}

/** One round. Returns the new champion, undefined when there is none, `exhausted` when nothing was proposed. */
async function runRound(
  run: EvolveRun,
  champion: Champion,
  observed: Observed,
  round: number,
): Promise<Champion | "exhausted" | undefined> {
  const diagnosis = diagnose(observed);
  const candidates = await propose(run, champion, diagnosis, round);
  if (candidates.length === 0) return "exhausted";
  const valid = await validate(run, champion, diagnosis, candidates);
  const screened = await screen(run, observed, valid);
  const accepted = await confirm(run, champion, screened, round);
  return accepted && (await commit(run, champion, accepted));
}

async function finish(run: EvolveRun, champion: Champion, stoppedBy: string): Promise<string> {
  await scoreChampion(run, champion);
  await run.ledger.append({ type: "run-ended", stopped_by: stoppedBy });
  run.listen({ type: "run-end", stoppedBy });
  return stoppedBy;
}

async function startRound({ ledger, listen }: EvolveRun, champion: Champion, round: number): Promise<void> {
  listen({ type: "round-start", round, champion: champion.name });
  if (ledger.find("round-started", (record) => record.round === round)) return;
  await ledger.append({ type: "round-started", round, champion: champion.generation });
}

function limitReached({ limits, signal }: EvolveRun, round: number, barren: number): string | undefined {
  if (signal.aborted)
    throw new LorimerError("interrupted", "interrupted between rounds", { hint: "Go on with --resume." });
  if (round > limits.rounds) return `${limits.rounds} rounds`;
  if (barren >= limits.patience) return `${barren} rounds without an acceptance`;
  if (limits.until !== undefined && Date.now() > limits.until) return "the time given by --until";
  return undefined;
}
