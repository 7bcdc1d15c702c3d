import { oneLine } from "../trace/plain-text.ts";
import type { CheckResult, Finding } from "./check.ts";

/** CHECKS.md: every check with what it found and what to do about it. */
export function renderFindings(checks: readonly CheckResult[]): string {
  const sections = checks.map(({ name, status, findings }) =>
    [`## ${name}: ${status}`, ...findings.map(renderFinding)].join("\n\n"),
  );
  return ["# Checks", ...sections].join("\n\n").concat("\n");
}

function renderFinding({ kind, message, file, line, hint, warning }: Finding): string {
  const place = file === undefined ? "" : ` \`${file}${line === undefined ? "" : `:${line}`}\``;
  const next = hint === undefined ? "" : ` ${oneLine(hint, 300)}`;
  return `- ${warning ? "warning, " : ""}**${kind}**${place}: ${oneLine(message, 600)}${next}`;
}
