import type { Brief } from "../proposer.ts";
import { answerForm } from "./answer-form.ts";
import { cite, type Draft, lastSaid, type Rule, tasksOf } from "./rule.ts";

/** Answers that do not have the form which passing ones show: say the form, from the recipe's public options. */
export const answerFormat: Rule = {
  lever: "prompt",
  diagnose(brief) {
    const form = answerForm(brief);
    if (form === undefined) return undefined;
    const unmarked = brief.failing.filter(
      ({ answer, exitReason }) => exitReason === "done" && !form.pattern.test(answer),
    );
    if (unmarked.length < 2) return undefined;
    const slot = `<${form.decision}>`;
    const line = `End with one line of the form "${form.marker}${form.separator}${slot}", where ${slot} is one of ${form.options.join(", ")}.`;
    if (brief.champion.prompt.includes(line)) return undefined;
    return {
      share: unmarked.length / brief.failing.length,
      hypothesis: `${unmarked.length} of ${brief.failing.length} failing answers state the decision in prose; asking for "${form.marker}${form.separator}${slot}" makes it readable.`,
      evidence: cite(unmarked, lastSaid),
      signature: { knob: "prompt.answer-format" },
      fixes: tasksOf(unmarked),
      apply: (draft) => addLine(draft, brief, line),
    };
  },
};

/** A tool of the harness that failing rollouts never call: available is not used, so require it. */
export const requiredCall: Rule = {
  lever: "prompt",
  diagnose(brief) {
    for (const { exportName } of brief.champion.parts.filter((part) => part.kind === "tool")) {
      const without = brief.failing.filter(({ unused }) => unused.includes(exportName));
      if (without.length < 2 || brief.champion.prompt.includes(exportName)) continue;
      return {
        share: without.length / brief.failing.length,
        hypothesis: `${without.length} of ${brief.failing.length} failing rollouts never call ${exportName}, which is there; requiring it gets it called.`,
        evidence: cite(without, lastSaid),
        signature: { knob: `prompt.required-call.${exportName}` },
        fixes: tasksOf(without),
        risks: ["one more step in every rollout"],
        apply: (draft) =>
          addLine(draft, brief, `Before you answer, call ${exportName} once and use what it returns.`),
      };
    }
    return undefined;
  },
};

/** Adds a line to a copy of the prompt; the champion's own file is never touched. */
function addLine(draft: Draft, brief: Brief, line: string): void {
  draft.config.prompt = "file://$GENERATION/prompts/system.md";
  draft.files.set("prompts/system.md", `${brief.champion.prompt.trimEnd()}\n${line}\n`);
}
