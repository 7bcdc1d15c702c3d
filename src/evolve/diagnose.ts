import type { ChampionRecord } from "../checks/subject.ts";
import type { TraceFacts } from "../trace/facts.ts";
import type { Observed } from "./observe.ts";

/** What proposers are told of the champion: mechanical facts, sorted by outcome. Of the grader, one bit a rollout. */
export interface Diagnosis {
  records: ChampionRecord[];
  selfReplayShare: number;
  failing: TraceFacts[];
  passing: TraceFacts[];
}

export function diagnose({ records, selfReplayShare }: Observed): Diagnosis {
  const of = (outcome: string) =>
    records.filter(({ scored }) => scored.outcome === outcome).map(({ facts }) => facts);
  return { records, selfReplayShare, failing: of("fail"), passing: of("pass") };
}
