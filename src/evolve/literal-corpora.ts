import type { Bench } from "../bench/bench.ts";
import { buildLiteralCorpus, type LiteralCorpus } from "../checks/literals/corpus.ts";
import type { Spec } from "../config/recipe-schema.ts";

export interface LiteralCorpora {
  /** Findings in it are told with their place. */
  evolve: LiteralCorpus;
  /** The gate and test splits: findings in it are told without. */
  sealed: LiteralCorpus;
}

/** What must not be in a candidate. What the recipe says openly, its baseline's prompt included, may be. */
export function literalCorpora({ splits, recipe }: Bench, baselinePrompt: string): LiteralCorpora {
  const open = [...openTexts(recipe.recipe.spec), baselinePrompt];
  return {
    evolve: buildLiteralCorpus(splits.evolve, open),
    sealed: buildLiteralCorpus([...splits.gate, ...splits.test], open),
  };
}

function openTexts(spec: Spec | undefined): string[] {
  if (spec === undefined) return [];
  const options = Object.values(spec.decisions).flatMap((decision) => decision.options ?? []);
  return [
    spec.name,
    spec.trigger,
    spec.writeback,
    ...spec.inputs,
    ...Object.keys(spec.decisions),
    ...options,
  ];
}
