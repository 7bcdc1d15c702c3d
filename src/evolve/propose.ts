import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadCandidateFile, loadProposal } from "../checks/canonicalize.ts";
import { freeze } from "../checks/freeze.ts";
import { LorimerError } from "../lib/errors.ts";
import { renderBrief } from "../proposers/brief.ts";
import type { Brief, Proposer } from "../proposers/proposer.ts";
import { foldInbox, foldNotes, recordNote } from "../store/inbox.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import type { Diagnosis } from "./diagnose.ts";
import { readNeeds } from "./needs-file.ts";
import { pastTries } from "./past-tries.ts";
import { type Champion, type EvolveRun, loadOn } from "./run-state.ts";

type Proposed = LedgerRecordOf<"candidate-proposed">;

/** A proposal that lies in its output directory; nothing of it has been believed yet. */
export interface Candidate {
  id: string;
  dir: string;
  record: Proposed;
}

/** Asks the proposers, in turn, for this round's candidates. Empty: there is nothing left to propose. */
export async function propose(
  run: EvolveRun,
  champion: Champion,
  diagnosis: Diagnosis,
  round: number,
): Promise<Candidate[]> {
  run.listen({
    type: "step-start",
    step: "propose",
    detail: `up to ${run.limits.candidates} candidates`,
    rollouts: 0,
  });
  const candidates: Candidate[] = [];
  for (let index = 0; index < run.limits.candidates; index++) {
    const proposer = run.proposers[index % run.proposers.length] as Proposer;
    const id = candidateId(round, index + 1);
    const dir = run.run.candidateDir(id);
    const known = run.ledger.find("candidate-proposed", (record) => record.candidate === id);
    const record = known ?? (await proposeOne(run, champion, diagnosis, { id, dir, round, proposer }));
    const { lever, hypothesis, noop } = record;
    run.listen({
      type: "proposed",
      candidate: id,
      proposer: proposer.name,
      lever,
      summary: noop ?? hypothesis,
    });
    if (noop === undefined) candidates.push({ id, dir, record });
    else if (run.proposers.length === 1) break;
  }
  return candidates;
}

export function candidateId(round: number, number: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `R${two(round)}-C${two(number)}`;
}

interface Slot {
  id: string;
  dir: string;
  round: number;
  proposer: Proposer;
}

async function proposeOne(
  run: EvolveRun,
  champion: Champion,
  diagnosis: Diagnosis,
  slot: Slot,
): Promise<Proposed> {
  const { id, dir, round, proposer } = slot;
  // What a killed attempt left is half a proposal: begin it anew.
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, "_meta_scratch"), { recursive: true });
  await foldInbox(run.run, run.ledger);
  const brief = briefFor(run, champion, diagnosis, slot);
  writeFileSync(join(dir, "_meta_scratch", "TASK.md"), renderBrief(brief));
  await proposer.propose(brief, dir);
  await openNotes(run, dir, round);

  const read = loadCandidateFile(dir);
  const base = {
    candidate: id,
    round,
    proposer: proposer.name,
    parent: champion.generation,
    hash: freeze(dir).frozen.hash,
  };
  if ("file" in read && "noop" in read.file)
    return await run.ledger.append({
      type: "candidate-proposed",
      ...base,
      lever: null,
      hypothesis: "",
      behaviour: null,
      noop: read.file.noop,
    });
  const proposal = loadProposal(dir);
  return await run.ledger.append({
    type: "candidate-proposed",
    ...base,
    lever: proposal?.lever ?? null,
    hypothesis: proposal?.hypothesis ?? "",
    behaviour: behaviourOf(run, dir),
  });
}

function behaviourOf(run: EvolveRun, dir: string): string | null {
  try {
    return loadOn(run.bench, dir).behaviourHash;
  } catch (error) {
    // What is wrong with it is said by the checks; what is wrong with the machine is no fault of its.
    if (error instanceof LorimerError && error.code !== "infra") return null;
    throw error;
  }
}

function briefFor(
  run: EvolveRun,
  champion: Champion,
  { failing, passing }: Diagnosis,
  { id, round }: Slot,
): Brief {
  const { dir, recipe } = run.bench.recipe;
  return {
    candidate: id,
    round,
    championName: champion.name,
    champion: champion.harness,
    spec: recipe.spec,
    ceilings: recipe.ceilings,
    playbook: recipe.playbook === undefined ? "" : readFileSync(resolve(dir, recipe.playbook), "utf8"),
    resources: run.bench.resources.names,
    failing,
    passing,
    tried: pastTries(run),
    notes: foldNotes(run.ledger.records).map(({ id: note, kind, ask, status, answer = "" }) => ({
      id: note,
      kind,
      ask,
      status,
      answer,
    })),
  };
}

/** Takes the proposer's notes for people into the ledger; the same wish is asked once. */
async function openNotes(run: EvolveRun, dir: string, round: number): Promise<void> {
  const known = new Set(foldNotes(run.ledger.records).map(({ id }) => id));
  for (const draft of readNeeds(dir)) {
    const note = await recordNote(run.ledger, draft, round);
    if (!known.has(note.id)) run.listen({ type: "note-opened", id: note.id, kind: note.kind, ask: note.ask });
    known.add(note.id);
  }
}
