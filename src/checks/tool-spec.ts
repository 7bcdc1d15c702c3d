import type { Finding } from "./check.ts";
import { holds, textOfCall } from "./evidence.ts";
import type { ChampionRecord, RunContext, Subject } from "./subject.ts";

export const specFile = "_meta_scratch/TOOL_SPEC.md";

/** Sections that a TOOL_SPEC.md must have, by the words that their headings begin with. */
const sections = ["Capability", "Class", "Inputs", "Output", "Failure modes"] as const;
type Section = (typeof sections)[number];

/** A tool candidate says what it can do, for which class, on which real inputs, and how it fails. */
export function checkToolSpec({ frozen, proposal }: Subject, { records }: RunContext): Finding[] | undefined {
  if (proposal.lever !== "tool") return undefined;
  const text = frozen.files.get(specFile);
  const finding = (message: string, hint?: string): Finding => ({
    kind: "tool-spec",
    message,
    file: specFile,
    ...(hint && { hint }),
  });
  if (text === undefined)
    return [finding("a tool candidate needs a TOOL_SPEC.md", "A template lies in _meta_scratch/templates/.")];
  const spec = readSpec(text);
  const missing = sections.filter((section) => (spec.get(section) ?? "").length < 10);
  if (missing.length > 0) return [finding(`sections missing or empty: ${missing.join(", ")}`)];
  const inputs = specInputs(text);
  if (inputs.length === 0)
    return [finding("names no input", "Quote inputs from failing trajectories, in back ticks.")];
  return [
    ...checkInputs(inputs, records, finding),
    ...checkFailureModes(spec.get("Failure modes") ?? "", finding),
  ];
}

/** The quoted inputs of a TOOL_SPEC.md. */
export function specInputs(text: string): string[] {
  const section = readSpec(text).get("Inputs") ?? "";
  return [...section.matchAll(/`([^`\n]{2,})`/g)].map(([, quote = ""]) => quote.trim()).filter(Boolean);
}

function readSpec(text: string): Map<Section, string> {
  const found = new Map<Section, string>();
  for (const part of text.split(/^## +/m).slice(1)) {
    const [heading = "", ...body] = part.split("\n");
    const section = sections.find((name) => heading.toLowerCase().startsWith(name.toLowerCase()));
    // A section twice counts once, whole: neither hides the other.
    if (section) found.set(section, `${found.get(section) ?? ""}\n${body.join("\n")}`.trim());
  }
  return found;
}

function checkInputs(
  inputs: readonly string[],
  records: readonly ChampionRecord[],
  finding: (message: string, hint?: string) => Finding,
): Finding[] {
  const failing = records.filter((record) => record.scored.outcome === "fail");
  const texts = failing.map((record) => ({ task: record.scored.task, text: allText(record) }));
  const tasks = new Set<string>();
  const invented: Finding[] = [];
  for (const input of inputs) {
    const holding = texts.filter(({ text }) => holds(text, input));
    for (const { task } of holding) tasks.add(task);
    if (holding.length === 0)
      invented.push(
        finding(
          `the input \`${input.slice(0, 60)}\` is in no failing trajectory`,
          "Quote real inputs; invented ones say nothing.",
        ),
      );
  }
  if (invented.length > 0) return invented;
  if (tasks.size >= 2) return [];
  return [
    finding(
      `its inputs come from ${tasks.size} failing task`,
      "A tool for one task is no capability: quote at least two tasks.",
    ),
  ];
}

/** What a tool could be given: the system prompt is the same everywhere and is no input. */
function allText({ events }: ChampionRecord): string {
  return events
    .flatMap((event) => {
      if (event.type === "messages-append")
        return event.messages.flatMap(({ role, content }) => (role === "system" ? [] : [content]));
      return event.type === "tool-call" ? textOfCall(event.call) : [];
    })
    .join("\n");
}

function checkFailureModes(section: string, finding: (message: string, hint?: string) => Finding): Finding[] {
  const modes = section.split("\n").filter((line) => /^\s*[-*] /.test(line));
  if (modes.length === 0)
    return [finding("names no failure mode", "List them: `- name: what the tool returns`.")];
  return modes.flatMap((line) =>
    /^\s*[-*] \S.*: *\S/.test(line)
      ? []
      : [finding(`a failure mode without what the tool returns: ${line.trim().slice(0, 80)}`)],
  );
}
