import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerRecord, LedgerRecordOf, LedgerRecordType } from "../../../src/store/ledger-records.ts";

/** The ledger's records as they are on disk; a torn last line is left out. */
export function ledgerOf(runDir: string): LedgerRecord[] {
  const file = join(runDir, "ledger.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerRecord);
}

export function recordsOf<Type extends LedgerRecordType>(runDir: string, type: Type): LedgerRecordOf<Type>[] {
  return ledgerOf(runDir).filter((record): record is LedgerRecordOf<Type> => record.type === type);
}

/** What was decided and on which numbers, without the clock and without what is only work. */
export function decisionsOf(runDir: string): unknown[] {
  const work = ["run-started", "rollout-started", "rollout-scored", "run-ended"];
  return ledgerOf(runDir)
    .filter(({ type }) => !work.includes(type))
    .map(({ seq: _seq, at: _at, ...decided }) => decided);
}

/** Rollouts that were scored more than once: each was paid for twice. */
export function paidTwice(runDir: string): string[] {
  const keys = recordsOf(runDir, "rollout-scored").map(({ score_key, key }) => `${key} ${score_key}`);
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}
