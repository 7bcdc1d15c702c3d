import { LorimerError } from "../lib/errors.ts";

/** What a run may spend, all purposes together. */
export interface BudgetCaps {
  rollouts: number;
  usd: number;
}

/** The cap was reached; what was paid for is kept. */
export class BudgetReached extends LorimerError {
  constructor(what: string) {
    super("refused", `the budget is reached: ${what}`, { hint: "Raise it under `budgets`, then resume." });
    this.name = "BudgetReached";
  }
}

/** Reserves a rollout's worst case before it starts, so that parallel ones cannot overshoot. */
export class Budget {
  private readonly caps: BudgetCaps;
  private rollouts: number;
  private usd: number;
  private kept: BudgetCaps = { rollouts: 0, usd: 0 };

  /** `spent` is what the ledger already holds. */
  constructor(caps: BudgetCaps, spent: BudgetCaps = { rollouts: 0, usd: 0 }) {
    this.caps = caps;
    this.rollouts = spent.rollouts;
    this.usd = spent.usd;
  }

  /** Keeps an amount back for later, so that what comes before cannot use it up; another amount replaces it. */
  keep(amount: BudgetCaps): void {
    this.kept = amount;
  }

  /** @throws BudgetReached */
  reserve(worstUsd: number): { settle(usd: number): void } {
    if (this.rollouts + 1 > this.caps.rollouts - this.kept.rollouts)
      throw new BudgetReached(`${this.caps.rollouts} rollouts`);
    // Not `>`: a cost that is no number must refuse, not pass.
    if (!(this.usd + worstUsd <= this.caps.usd - this.kept.usd)) throw new BudgetReached(`$${this.caps.usd}`);
    this.rollouts += 1;
    this.usd += worstUsd;
    let held = worstUsd;
    return {
      settle: (usd) => {
        this.usd += usd - held;
        held = usd;
      },
    };
  }

  get spent(): BudgetCaps {
    return { rollouts: this.rollouts, usd: this.usd };
  }
}
