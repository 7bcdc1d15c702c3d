import type { Bench } from "../bench/bench.ts";
import { buildLiteralCorpus, type LiteralCorpus } from "../checks/literals/corpus.ts";
import type { LoadedHarness } from "../config/harness.ts";
import type { Spec } from "../config/recipe-schema.ts";
import { stockSources } from "../proposers/mechanic/stock.ts";

export interface LiteralCorpora {
  /** Findings in it are told with their place. */
  evolve: LiteralCorpus;
  /** Every split, to be asked where the evolve split has said nothing: findings in it are told without a place. */
  sealed: LiteralCorpus;
}

/**
 * What must not be in a candidate. What is open to everyone may be: the recipe's spec and baseline, the words that a
 * config.yaml is written in, and the parts that lorimer ships.
 */
export function literalCorpora({ splits, recipe }: Bench, baseline: LoadedHarness): LiteralCorpora {
  const open = [...openTexts(recipe.recipe.spec), baseline.prompt, baseline.canonical, ...stockSources()];
  return {
    evolve: buildLiteralCorpus(splits.evolve, open),
    sealed: buildLiteralCorpus(Object.values(splits).flat(), open),
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
