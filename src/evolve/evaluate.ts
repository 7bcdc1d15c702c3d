import type { ScoredRollout } from "../bench/rollouts.ts";
import { loadProposal } from "../checks/canonicalize.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { confirmationAlpha } from "../stats/alpha-budget.ts";
import type { Verdict } from "../stats/verdict.ts";
import { decide, screenVerdict } from "./decide.ts";
import type { Observed } from "./observe.ts";
import { recordRefusal } from "./refusal.ts";
import { type Arm, type Champion, type EvolveRun, meanScore, runPairedPass, runPass } from "./run-state.ts";
import type { ValidCandidate } from "./validate.ts";

/** A candidate that the screen let live, and how it looked there: for the order of confirmation, never for a claim. */
export interface Survivor extends ValidCandidate {
  screenEffect: number;
}

/** A candidate that became better than its champion, with the numbers that say so. */
export interface Accepted extends ValidCandidate {
  numbers: Record<string, unknown>;
  reason: string;
}

/** Screens on the evolve split, against the champion's rollouts that are there already. May only kill. */
export async function screen(
  run: EvolveRun,
  observed: Observed,
  candidates: readonly ValidCandidate[],
): Promise<Survivor[]> {
  const tasks = run.bench.splits.evolve;
  if (candidates.length > 0)
    run.listen({
      type: "step-start",
      step: "screen",
      detail: `${candidates.length} candidates`,
      rollouts: candidates.length * tasks.length,
    });
  const survivors: Survivor[] = [];
  for (const candidate of candidates) {
    const { id } = candidate;
    const known = run.ledger.find("screened", (record) => record.candidate === id);
    const { passed, numbers } = known ?? (await screenOne(run, observed, candidate));
    const reason = String(numbers["reason"]);
    run.listen({ type: "screened", candidate: id, passed, reason });
    if (passed) survivors.push({ ...candidate, screenEffect: Number(numbers["effect"]) });
    else await recordRefusal(run, candidate, `ended by the screen: ${reason}`);
  }
  return survivors.sort((a, b) => b.screenEffect - a.screenEffect || size(a.harness) - size(b.harness));
}

/** Cited tasks from which on it means something that none of them is mended. */
const enoughCited = 8;

/** Cited tasks first: a candidate that mends none of the tasks it cites is not worth a whole pass. */
async function screenOne(run: EvolveRun, observed: Observed, candidate: ValidCandidate) {
  const { id, harness } = candidate;
  const all = run.bench.splits.evolve;
  const cited = citedTasks(candidate, observed);
  const arm = { harness, split: "evolve" as const, seedName: ["screen", id] };
  const first = await runPass(run, { ...arm, tasks: all.filter((task) => cited.has(task.id)) }, "screen");
  if (cited.size >= enoughCited && first.every(({ outcome }) => outcome === "fail")) {
    const reason = `mends none of the ${cited.size} tasks that it cites`;
    return await run.ledger.append({
      type: "screened",
      candidate: id,
      passed: false,
      numbers: { reason, cited: cited.size },
    });
  }
  const whole = await runPass(run, { ...arm, tasks: all }, "screen");
  const { passed, numbers, reason } = screenVerdict(observed.passes.map(scoresOf), [scoresOf(whole)]);
  return await run.ledger.append({
    type: "screened",
    candidate: id,
    passed,
    numbers: { ...numbers, reason },
  });
}

function citedTasks({ dir }: ValidCandidate, { records }: Observed): Set<string> {
  const evidence = loadProposal(dir)?.evidence ?? [];
  const cited = new Set(evidence.map(({ rollout }) => rollout));
  return new Set(records.filter(({ scored }) => cited.has(scored.key)).map(({ scored }) => scored.task));
}

/** Confirms survivors on the gate split, the most promising first, until one is accepted: the only test. */
export async function confirm(
  run: EvolveRun,
  champion: Champion,
  survivors: readonly Survivor[],
  round: number,
): Promise<Accepted | undefined> {
  for (const candidate of survivors) {
    const known = run.ledger.find("verdict", (record) => record.candidate === candidate.id);
    const { verdict, reason, numbers } = known ?? (await confirmOne(run, champion, candidate, round));
    run.listen({ type: "judged", candidate: candidate.id, verdict, reason });
    if (verdict === "accept") return { ...candidate, numbers, reason };
    await recordRefusal(run, candidate, `${verdict}: ${reason}`);
  }
  return undefined;
}

async function confirmOne(run: EvolveRun, champion: Champion, candidate: Survivor, round: number) {
  const { bench, ledger } = run;
  const k = ledger.all("verdict").length + 1;
  const alpha = confirmationAlpha(bench.recipe.recipe.budgets.alpha, k);
  run.listen({
    type: "step-start",
    step: "confirm",
    detail: candidate.id,
    rollouts: 2 * bench.splits.gate.length,
  });
  const judged = await judgeArms(run, {
    champion: { harness: champion.harness, seedName: ["confirm", champion.generation, round] },
    candidate: { harness: candidate.harness, seedName: ["confirm", candidate.id] },
    alpha,
    purpose: "confirm",
  });
  const { decision, reason, ...numbers } = judged;
  return await ledger.append({
    type: "verdict",
    candidate: candidate.id,
    verdict: decision === "continue" ? "indecisive" : decision,
    reason,
    numbers: { k, alpha, ...numbers },
  });
}

interface ArmOf {
  harness: LoadedHarness;
  seedName: readonly (string | number)[];
}

export interface Judged extends Verdict {
  champion: number | undefined;
  candidate: number | undefined;
  gained: string[];
  lost: string[];
}

/** Both arms on the gate split, pass by pass, interleaved, until the verdict is in. */
export async function judgeArms(
  run: EvolveRun,
  arms: { champion: ArmOf; candidate: ArmOf; alpha: number; purpose: string },
): Promise<Judged> {
  const maxPasses = run.bench.recipe.recipe.budgets.passes;
  const rows = { champion: [] as ScoredRollout[][], candidate: [] as ScoredRollout[][] };
  for (let pass = 0; ; pass++) {
    const armOf = ({ harness, seedName }: ArmOf): Arm => ({
      harness,
      tasks: run.bench.splits.gate,
      split: "gate",
      seedName: [...seedName, pass],
    });
    const [champion, candidate] = await runPairedPass(
      run,
      [armOf(arms.champion), armOf(arms.candidate)],
      arms.purpose,
    );
    rows.champion.push(champion);
    rows.candidate.push(candidate);
    const verdict = decide({
      champion: rows.champion.map(scoresOf),
      candidate: rows.candidate.map(scoresOf),
      alpha: arms.alpha,
      maxPasses,
    });
    if (verdict.decision !== "continue")
      return {
        ...verdict,
        champion: meanScore(rows.champion.flat()),
        candidate: meanScore(rows.candidate.flat()),
        ...flips(rows.champion, rows.candidate),
      };
  }
}

/** Tasks whose mean score moved by half or more between the arms. */
function flips(
  champion: readonly ScoredRollout[][],
  candidate: readonly ScoredRollout[][],
): { gained: string[]; lost: string[] } {
  const means = (rows: readonly ScoredRollout[][]) =>
    (rows[0] ?? []).map((_, task) => meanScore(rows.flatMap((row) => row[task] ?? [])) ?? 0);
  const before = means(champion);
  const after = means(candidate);
  const names = (champion[0] ?? []).map(({ task }) => task);
  const moved = (sign: number) =>
    names.filter((_, task) => sign * ((after[task] ?? 0) - (before[task] ?? 0)) >= 0.5);
  return { gained: moved(1), lost: moved(-1) };
}

export function scoresOf(rollouts: readonly ScoredRollout[]): (number | null)[] {
  return rollouts.map(({ score }) => score);
}

/** Characters of a harness: of two equal candidates the smaller one wins. */
function size(harness: LoadedHarness): number {
  return [...harness.files.values()].reduce((sum, text) => sum + text.length, harness.canonical.length);
}
