import type { TraceFacts } from "../../trace/facts.ts";
import type { Brief } from "../proposer.ts";
import { cite, type Draft, lastSaid, mayCall, ownLine, type Rule, tasksOf } from "./rule.ts";
import { stockPart } from "./stock.ts";
import { renderToolSpec } from "./tool-spec.ts";

const nothingToCompare =
  /\b(nothing|no (other|past|earlier|similar|previous) \w+|without (an )?(examples?|precedents?|records?))\b[^.]{0,40}\b(compare|go by|judge)/i;

/** The agent says that it has nothing to compare with, while labelled records lie unread in the resources. */
export const similarRecords: Rule = {
  lever: "tool",
  diagnose(brief) {
    if (!brief.resources.some((name) => name.endsWith(".jsonl"))) return undefined;
    if (has(brief, "similar_records") || !mayCall(brief, "similar_records")) return undefined;
    const lost = brief.failing.filter(({ said }) => said.some(({ text }) => nothingToCompare.test(text)));
    const inputs = quotes(lost, brief.failing);
    if (inputs.length < 2) return undefined;
    return {
      share: lost.length / brief.failing.length,
      hypothesis: `${lost.length} of ${brief.failing.length} failing rollouts say that there is nothing to compare with; a tool that ranks the past records by likeness gives them something.`,
      evidence: cite(lost, (fact) => quoteWhere(fact, nothingToCompare)),
      signature: { tool: "similar_records" },
      fixes: tasksOf(lost),
      risks: ["a long result may push other text out of the model's reach"],
      apply: (draft) => addTool(draft, "similar-records", "similar_records"),
      toolSpec: renderToolSpec({
        name: "similar_records",
        capability:
          "Find the past records that are most like a text, with their labels. Until now the agent cannot read any of them in bulk, so it falls back on its default.",
        cls: `Tasks that are judged by likeness to earlier cases: ${tasksOf(lost).length} failing tasks of the evolve split say that they have nothing to compare with.`,
        inputs,
        output:
          "One line a record, best first: likeness, then the record's short fields (labels among them), then the beginning of its long ones. Few lines, so that they fit beside the task.",
        failureModes: [
          ["no records", "`[similar_records failed: there are no past records]`"],
          ["nothing alike", "`[similar_records failed: no past record is like this text]`"],
          ["no text given", "an error result that names the field `text`"],
        ],
      }),
    };
  },
};

const lookupName = /(search|find|look_?up|grep|query)/i;

/** Calls to search tools that do not exist: give the agent one, over the resources. */
export const findInRecords: Rule = {
  lever: "tool",
  diagnose(brief) {
    if (brief.resources.length === 0 || has(brief, "find_in_records")) return undefined;
    if (!mayCall(brief, "find_in_records")) return undefined;
    const wished = (fact: TraceFacts) =>
      fact.calls.find((call) => call.disposition === "unknown" && lookupName.test(call.name));
    const asking = brief.failing.filter((fact) => wished(fact) !== undefined);
    const inputs = quotes(asking, brief.failing);
    if (inputs.length < 2) return undefined;
    return {
      share: asking.length / brief.failing.length,
      hypothesis: `${asking.length} of ${brief.failing.length} failing rollouts call a search tool that does not exist.`,
      evidence: cite(asking, (fact) => {
        const call = wished(fact);
        return call && { step: call.step, quote: call.name };
      }),
      signature: { tool: "find_in_records" },
      fixes: tasksOf(asking),
      apply: (draft) => addTool(draft, "find-in-records", "find_in_records"),
      toolSpec: renderToolSpec({
        name: "find_in_records",
        capability:
          "Look up a word or phrase in the resource files. The agent tries to, by names of tools that it does not have.",
        cls: `Tasks that need a fact from the resources: ${tasksOf(asking).length} failing tasks call such a tool.`,
        inputs,
        output: "The matching lines with file and line number, ten at most, and how many more there are.",
        failureModes: [
          ["nothing found", '`[find_in_records failed: nothing holds "…"]`'],
          ["phrase too short", "an error result that names the field `phrase`"],
        ],
      }),
    };
  },
};

function has({ champion }: Brief, name: string): boolean {
  return champion.parts.some((part) => part.kind === "tool" && part.exportName === name);
}

function addTool(draft: Draft, file: string, name: string): void {
  draft.files.set(`tools/${file}.ts`, stockPart("tools", file));
  draft.config.tools.custom.push(`file://$GENERATION/tools/${file}.ts::${name}`);
  draft.config.tools.allowlist?.push(name);
}

/** Real inputs: a line of its own from each of a few failing tasks; a tool for one task is no capability. */
function quotes(
  facts: readonly TraceFacts[],
  all: readonly TraceFacts[],
): { rollout: string; text: string }[] {
  const seen = new Set<string>();
  const found: { rollout: string; text: string }[] = [];
  for (const fact of facts) {
    if (found.length === 4) break;
    const text = seen.has(fact.task) ? undefined : ownLine(fact, all);
    if (text === undefined) continue;
    seen.add(fact.task);
    found.push({ rollout: fact.rollout, text });
  }
  return found;
}

function quoteWhere(fact: TraceFacts, pattern: RegExp): { step: number; quote: string } | undefined {
  const said = fact.said.find(({ text }) => pattern.test(text));
  const match = said && pattern.exec(said.text);
  return said && match ? { step: said.step, quote: match[0] } : lastSaid(fact);
}
