import type { ModelConfig } from "../config/recipe-schema.ts";
import type { Model } from "./model.ts";
import { createScriptedModel } from "./scripted.ts";
import { createSimModel } from "./sim/model.ts";

/** The model that a recipe names. */
export function createModel(config: ModelConfig): Model {
  if (config.kind === "sim") return createSimModel(config);
  const { replies, name } = config;
  return createScriptedModel(({ seed }) => replies[seed % replies.length] ?? "", { name });
}

/** What one rollout may cost at worst, in US dollars: models of these kinds cost nothing. */
export function worstCase(model: Model, limitUsd: number): number {
  return model.kind === "live" ? limitUsd : 0;
}
