import type { Random } from "../../src/lib/random.ts";
import { type ConfirmationVerdict, confirmationVerdict } from "../../src/stats/e-process.ts";

/** Pass rates like those of a real suite: three in ten tasks nearly hopeless, three nearly sure, the rest between. */
export function realisticRates(tasks: number, random: Random): number[] {
  return Array.from({ length: tasks }, () => {
    const kind = random();
    if (kind < 0.3) return random() * 0.1;
    if (kind < 0.6) return 0.9 + random() * 0.1;
    return 0.1 + random() * 0.8;
  });
}

/** The rates moved so that their mean changes by `effect`, each in proportion to its room. */
export function shifted(rates: readonly number[], effect: number): number[] {
  const room = rates.map((rate) => (effect > 0 ? 1 - rate : rate));
  const scale = (effect * rates.length) / room.reduce((sum, value) => sum + value, 0);
  return rates.map((rate, task) => rate + scale * (room[task] as number));
}

interface Sequence {
  champion: readonly number[];
  candidate: readonly number[];
  alpha: number;
  maxPasses: number;
}

/** Runs one confirmation on simulated rollouts until it decides. */
export function simulate(
  { champion, candidate, alpha, maxPasses }: Sequence,
  random: Random,
): ConfirmationVerdict {
  const draw = (rate: number): number => (random() < rate ? 1 : 0);
  const passes: number[][] = [];
  for (;;) {
    passes.push(champion.map((rate, task) => draw(candidate[task] as number) - draw(rate)));
    const verdict = confirmationVerdict({ passes, alpha, maxPasses });
    if (verdict.decision !== "continue") return verdict;
  }
}
