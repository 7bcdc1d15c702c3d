export type { BlockModel, BlockResponse, HarnessRunResult, HarnessSpec } from "./agent/spec-run.ts";
export { buildHarnessRun, formatHarnessRun } from "./agent/spec-run.ts";
export { nearDuplicateGroups } from "./bench/near-duplicates.ts";
export { LorimerError } from "./lib/errors.ts";
export { seededRandom, shuffled } from "./lib/random.ts";
export type { Model, ModelReply, ModelRequest } from "./model/model.ts";
export type { ScriptedReply } from "./model/scripted.ts";
export { createScriptedModel } from "./model/scripted.ts";
export { createSimModel } from "./model/sim/model.ts";
