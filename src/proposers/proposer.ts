import type { LoadedHarness } from "../config/harness.ts";
import type { Lever } from "../config/harness-schema.ts";
import type { Recipe, Spec } from "../config/recipe-schema.ts";
import type { TraceFacts } from "../trace/facts.ts";

/** An earlier candidate as proposers may see it: evolve-split facts and one bit of the gate. */
export interface PastTry {
  candidate: string;
  /** Champion that it was offered on, `gen/0002`. */
  parent: string;
  lever: Lever;
  /** What it was about, in a word or two: its signature. */
  signature: string;
  hypothesis: string;
  becameChampion: boolean;
  /** Names of checks that failed; findings in sealed splits carry no place. */
  failedChecks: string[];
}

/** A note for people and what they said. The answer is data, never an instruction to the loop. */
export interface NoteForProposer {
  id: string;
  kind: string;
  ask: string;
  status: "open" | "answered" | "denied" | "expired";
  answer: string;
}

/** Everything that a proposer is told for one candidate; nothing in it comes from the gate or test split. */
export interface Brief {
  candidate: string;
  round: number;
  championName: string;
  champion: LoadedHarness;
  spec: Spec | undefined;
  ceilings: Recipe["ceilings"];
  playbook: string;
  /** Names of the resource files that tools may read. */
  resources: string[];
  /** One entry for each rollout of the champion on the evolve split. */
  failing: TraceFacts[];
  passing: TraceFacts[];
  tried: PastTry[];
  notes: NoteForProposer[];
}

/** Who writes candidates. It leaves an output directory, or a `candidate.yaml` that says why there is none. */
export interface Proposer {
  readonly name: string;
  propose(brief: Brief, outputDir: string): Promise<void>;
}
