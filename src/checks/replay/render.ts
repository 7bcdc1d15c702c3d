import { oneLine } from "../../trace/plain-text.ts";
import type { ReplayReport } from "./gate.ts";

/** REPLAY.md: what the records say of the candidate, and what they cannot say. */
export function renderReplay({ rows, selfShare, findings }: ReplayReport): string {
  const failing = rows.filter(({ record }) => record.scored.outcome === "fail");
  const passing = rows.filter(({ record }) => record.scored.outcome === "pass");
  const changed = (list: typeof rows) =>
    list.filter(({ replayed }) => replayed.divergence !== undefined).length;
  const lines = [
    "# Replay",
    "",
    `The champion replays itself on ${(selfShare * 100).toFixed(0)} % of its records.`,
    `Of ${failing.length} failing records ${changed(failing)} change, of ${passing.length} passing ones ${changed(passing)}.`,
    "A record holds up to the step named; nothing is claimed past it. Help to a failing record is an upper bound.",
    ...(rows.length > 0 && rows.every(({ replayed }) => replayed.divergence?.step === 0)
      ? [
          "Every record differs at its first request, as with a new tool or prompt: it says nothing of harm or help.",
        ]
      : []),
    "",
    "| rollout | outcome | holds up to step | first difference |",
    "|---|---|---|---|",
    ...rows.map(({ record, replayed }) => {
      const { divergence } = replayed;
      const what = divergence
        ? `${divergence.cause.kind}: ${oneLine(divergence.cause.name, 60).replaceAll("|", "\\|")}`
        : "none";
      return `| ${record.scored.key.slice(0, 12)} | ${record.scored.outcome} | ${replayed.validUntilStep} | ${what} |`;
    }),
  ];
  const failed = findings.map(({ kind, message }) => `- **${kind}**: ${oneLine(message, 300)}`);
  return [...lines, ...(failed.length > 0 ? ["", "## Refused", "", ...failed] : [])].join("\n").concat("\n");
}
