import type { Bench } from "../bench/bench.ts";
import type { Proposal } from "../config/candidate-schema.ts";
import type { LoadedHarness } from "../config/harness.ts";
import type { Lever } from "../config/harness-schema.ts";
import type { LedgerRecordOf } from "../store/ledger-records.ts";
import type { TraceEvent } from "../trace/events.ts";
import type { TraceFacts } from "../trace/facts.ts";
import type { Frozen } from "./freeze.ts";

/** A champion's rollout on disk, complete enough to be replayed. */
export interface ChampionRecord {
  scored: LedgerRecordOf<"rollout-scored">;
  events: TraceEvent[];
  facts: TraceFacts;
  /** The champion was seen to replay itself on it. */
  replayable: boolean;
}

/** An earlier try on the same champion, as novelty needs it. */
export interface EarlierTry {
  candidate: string;
  behaviour: string;
  outcome: string;
}

/** What a run adds to a candidate: without it, the checks that need one are skipped. */
export interface RunContext {
  bench: Bench;
  champion: LoadedHarness;
  /** `gen/0003` */
  championName: string;
  /** Champion rollouts of the evolve split, in a fixed order. */
  records: ChampionRecord[];
  /** Share of the records tried on which the champion replays itself. */
  selfReplayShare: number;
  earlier: EarlierTry[];
}

/** What is checked: an output directory that was frozen and could be loaded. */
export interface Subject {
  dir: string;
  frozen: Frozen;
  harness: LoadedHarness;
  proposal: Proposal;
  leversTouched: Lever[];
}
