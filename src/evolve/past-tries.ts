import { loadProposal } from "../checks/canonicalize.ts";
import type { EarlierTry } from "../checks/subject.ts";
import { signatureKey } from "../proposers/mechanic/mechanic.ts";
import type { PastTry } from "../proposers/proposer.ts";
import { generationTag } from "../store/generation-history.ts";
import type { EvolveRun } from "./run-state.ts";

/** Every earlier candidate in the rendering for proposers: of the gate, one bit each. */
export function pastTries({ ledger, run }: EvolveRun): PastTry[] {
  return ledger.all("candidate-proposed").flatMap(({ candidate, parent, lever, hypothesis }): PastTry[] => {
    const proposal = loadProposal(run.candidateDir(candidate));
    if (lever === null || proposal === undefined) return [];
    const checked = ledger.find("candidate-checked", (record) => record.candidate === candidate);
    const failed = (checked?.checks ?? []).filter(({ status }) => status === "fail").map(({ name }) => name);
    return [
      {
        candidate,
        parent: generationTag(parent),
        lever,
        signature: signatureKey(proposal.signature),
        hypothesis,
        becameChampion: ledger.find("committed", (record) => record.candidate === candidate) !== undefined,
        failedChecks: failed,
      },
    ];
  });
}

/**
 * Candidates before `before` that were offered on this champion and did not become the next: none is judged again on
 * it. What was only passed over, because a sibling was accepted first, is no such thing.
 */
export function earlierTries({ ledger }: EvolveRun, champion: number, before: number): EarlierTry[] {
  return ledger.all("candidate-proposed").flatMap(({ candidate, parent, behaviour, seq }): EarlierTry[] => {
    if (parent !== champion || behaviour === null || seq >= before) return [];
    return [{ candidate, behaviour, outcome: outcomeOf({ ledger }, candidate) }];
  });
}

function outcomeOf({ ledger }: Pick<EvolveRun, "ledger">, candidate: string): string {
  const checked = ledger.find("candidate-checked", (record) => record.candidate === candidate);
  if (checked && !checked.ok) return "refused by a check";
  const screened = ledger.find("screened", (record) => record.candidate === candidate);
  if (screened && !screened.passed) return "ended by the screen";
  // Which verdict the gate gave is more than the one bit that a proposer may have of it.
  const judged = ledger.find("verdict", (record) => record.candidate === candidate) !== undefined;
  return judged ? "did not become champion" : "offered";
}
