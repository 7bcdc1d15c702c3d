import { generationTag } from "../store/generation-history.ts";
import type { LedgerView } from "../store/ledger.ts";
import { oneLine } from "../trace/plain-text.ts";

/** journal.md: what happened, round by round, for people. A rendering of the ledger; nothing reads it back. */
export function renderJournal(run: string, ledger: LedgerView): string {
  const rounds = ledger.all("round-started").map(({ round, champion }) => {
    const candidates = ledger.all("candidate-proposed").filter((record) => record.round === round);
    const controls = ledger.all("control").filter((record) => record.round === round);
    return [
      `## Round ${round}, champion ${generationTag(champion)}`,
      ...candidates.map(({ candidate, lever, hypothesis, noop }) =>
        noop === undefined
          ? `- **${candidate}** (${lever ?? "no lever"}): ${oneLine(hypothesis, 300)}\n  ${outcome(ledger, candidate)}`
          : `- **${candidate}** proposes nothing: ${oneLine(noop, 300)}`,
      ),
      ...controls.map(
        ({ control, verdict, numbers }) =>
          `- control, ${control}: ${verdict}. ${oneLine(String(numbers["reason"]), 300)}`,
      ),
    ].join("\n\n");
  });
  const notes = ledger
    .all("note-opened")
    .map(({ note }) => `- ${note.id} (${note.kind}): ${oneLine(note.ask, 300)}`);
  const ended = ledger.all("run-ended").at(-1);
  return [
    `# Journal of ${run}`,
    ...rounds,
    ...(notes.length > 0 ? [`## Notes for people\n\n${notes.join("\n")}`] : []),
    ...(ended ? [`Stopped by: ${oneLine(ended.stopped_by, 300)}`] : []),
  ]
    .join("\n\n")
    .concat("\n");
}

/** What became of a candidate, in one line. */
export function outcome(ledger: LedgerView, candidate: string): string {
  const committed = ledger.find("committed", (record) => record.candidate === candidate);
  const verdict = ledger.find("verdict", (record) => record.candidate === candidate);
  if (verdict) {
    const became = committed ? `, committed as ${generationTag(committed.generation)}` : "";
    return `${verdict.verdict}${became}: ${oneLine(verdict.reason, 200)}`;
  }
  const checked = ledger.find("candidate-checked", (record) => record.candidate === candidate);
  const failed = checked?.checks.find(({ status }) => status === "fail");
  if (failed)
    return `refused by ${failed.name}: ${oneLine(failed.findings.find((finding) => !finding.warning)?.message ?? "", 200)}`;
  const screened = ledger.find("screened", (record) => record.candidate === candidate);
  if (screened && !screened.passed)
    return `ended by the screen: ${oneLine(String(screened.numbers["reason"]), 200)}`;
  if (screened) return "passed over: a sibling was accepted first; it may be offered again";
  return "open";
}
