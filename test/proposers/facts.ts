import { join } from "node:path";
import { loadHarness } from "../../src/config/load-harness.ts";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import type { Brief } from "../../src/proposers/proposer.ts";
import type { CallFact, TraceFacts } from "../../src/trace/facts.ts";
import { libraryDesk } from "../support/library-desk.ts";

const { recipe } = loadRecipe(libraryDesk);
export const baseline = loadHarness(join(libraryDesk, "baseline"));

/** Facts of one rollout, as they would be of a rollout about which there is nothing to say. */
export function fact(task: number, facts: Partial<TraceFacts> = {}): TraceFacts {
  const answer = facts.answer ?? "DESK loans";
  return {
    rollout: `rollout-${task}`,
    task: `desk-${task}`,
    exitReason: "done",
    steps: 1,
    answer,
    calls: [],
    repeats: [],
    unused: [],
    taskHead: `Task: library desk\nInputs:\n- message: question number ${task}, in words`,
    taskChars: 300,
    markupShare: 0,
    said: [{ step: 0, text: answer }],
    fired: [],
    processorErrors: [],
    ...facts,
  };
}

export function facts(count: number, what: Partial<TraceFacts> = {}): TraceFacts[] {
  return Array.from({ length: count }, (_, task) => fact(task, what));
}

export function call(what: Partial<CallFact> = {}): CallFact {
  return {
    step: 0,
    name: "Read",
    digest: "digest",
    disposition: "dispatched",
    isError: false,
    errorTail: undefined,
    resultChars: 20,
    ...what,
  };
}

/** A brief on the library desk's baseline, with nothing tried and nothing observed. */
export function brief(what: Partial<Brief> = {}): Brief {
  return {
    candidate: "R01-C01",
    round: 1,
    championName: "gen/0000",
    champion: baseline,
    spec: recipe.spec,
    ceilings: recipe.ceilings,
    playbook: "",
    resources: ["answered.jsonl"],
    failing: [],
    passing: [],
    tried: [],
    notes: [],
    ...what,
  };
}
