import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckResult } from "../checks/check.ts";
import { renderFindings } from "../checks/render.ts";
import { renderReplay } from "../checks/replay/render.ts";
import { runChecks } from "../checks/run-checks.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { oneLine } from "../trace/plain-text.ts";
import type { Diagnosis } from "./diagnose.ts";
import { frozenFiles } from "./frozen.ts";
import { earlierTries } from "./past-tries.ts";
import type { Candidate } from "./propose.ts";
import { recordRefusal } from "./refusal.ts";
import { type Champion, type EvolveRun, loadOn, loadOptions } from "./run-state.ts";

/** A candidate that every check let through. */
export interface ValidCandidate extends Candidate {
  harness: LoadedHarness;
}

/** Runs the checks on each candidate. What is refused is kept as a git ref, with its reasons. */
export async function validate(
  run: EvolveRun,
  champion: Champion,
  diagnosis: Diagnosis,
  candidates: readonly Candidate[],
): Promise<ValidCandidate[]> {
  run.listen({
    type: "step-start",
    step: "validate",
    detail: `${candidates.length} candidates`,
    rollouts: 0,
  });
  const valid: ValidCandidate[] = [];
  for (const candidate of candidates) {
    const known = run.ledger.find("candidate-checked", (record) => record.candidate === candidate.id);
    const { ok, checks } = known ?? (await checkOne(run, champion, diagnosis, candidate));
    run.listen({ type: "checked", candidate: candidate.id, ok, reason: ok ? "" : firstFailure(checks) });
    if (ok) valid.push({ ...candidate, harness: loadFrozen(run, candidate) });
    else await recordRefusal(run, candidate, `refused: ${firstFailure(checks)}`);
  }
  return valid;
}

/** On resume the checks are not made again: the files must be those that they were made on. */
function loadFrozen(run: EvolveRun, candidate: Candidate): LoadedHarness {
  frozenFiles(candidate);
  return loadOn(run.bench, candidate.dir);
}

async function checkOne(run: EvolveRun, champion: Champion, diagnosis: Diagnosis, candidate: Candidate) {
  const { bench } = run;
  const { checks, ok, replay } = await runChecks(candidate.dir, {
    load: loadOptions(bench),
    literals: run.literals,
    context: {
      bench,
      champion: champion.harness,
      championName: champion.name,
      records: diagnosis.records,
      selfReplayShare: diagnosis.selfReplayShare,
      earlier: earlierTries(run, champion.generation, candidate.record.seq),
    },
    frozenHash: candidate.record.hash,
  });
  const findings = join(candidate.dir, "findings");
  mkdirSync(findings, { recursive: true });
  writeFileSync(join(findings, "CHECKS.md"), renderFindings(checks));
  if (replay) {
    const failed = replay.findings.length > 0;
    writeFileSync(join(findings, failed ? "REPLAY_FAIL.md" : "REPLAY.md"), renderReplay(replay));
  }
  return await run.ledger.append({ type: "candidate-checked", candidate: candidate.id, ok, checks });
}

export function firstFailure(checks: readonly CheckResult[]): string {
  const failed = checks.find(({ status }) => status === "fail");
  const [first] = failed?.findings ?? [];
  const where = first?.file ? ` (${first.file}${first.line ? `:${first.line}` : ""})` : "";
  return failed ? `${failed.name}: ${oneLine(first?.message ?? "failed", 160)}${where}` : "";
}
