import { freeze } from "../checks/freeze.ts";
import { oneLine } from "../trace/plain-text.ts";
import type { Candidate } from "./propose.ts";
import type { EvolveRun } from "./run-state.ts";

/** Keeps what a candidate was, under `refs/candidates/`, with why it did not become a generation. */
export async function recordRefusal(run: EvolveRun, candidate: Candidate, why: string): Promise<void> {
  const { record } = candidate;
  await run.generations.recordRejected(candidate.id, {
    parent: record.parent,
    files: freeze(candidate.dir).frozen.files,
    subject: `${candidate.id}: ${oneLine(record.hypothesis || "no readable proposal", 60)}`,
    trailers: {
      Candidate: candidate.id,
      "Candidate-Hash": record.hash,
      "Parent-Generation": String(record.parent),
      Lever: record.lever ?? "none",
      Decision: oneLine(why, 300),
      "Model-Kind": run.bench.model.kind,
      Seed: String(run.seed),
    },
  });
}
