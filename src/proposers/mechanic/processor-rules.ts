import type { TraceFacts } from "../../trace/facts.ts";
import type { Brief } from "../proposer.ts";
import { answerForm } from "./answer-form.ts";
import { cite, type Diagnosis, type Draft, lastSaid, ownLine, type Rule, tasksOf } from "./rule.ts";
import { stockPart } from "./stock.ts";

const longTask = 3000;

/** Long inputs, and calls repeated as if their results were never seen: the input floods the context. */
export const inputCap: Rule = {
  lever: "processor",
  diagnose(brief) {
    const long = brief.failing.filter(({ taskChars }) => taskChars > longTask);
    const flooded = long.filter(({ repeats }) => repeats.length > 0);
    if (long.length < 2 || has(brief, "InputCap")) return undefined;
    const cited = flooded.length >= 2 ? flooded : long;
    const what =
      flooded.length >= 2
        ? `${flooded.length} of ${brief.failing.length} failing rollouts repeat a call on a task of over ${longTask} characters: its result lies past what the model can see`
        : `${long.length} of ${brief.failing.length} failing rollouts have a task of over ${longTask} characters`;
    return {
      // Length alone says little; length with repeated calls says where the result went.
      share: (flooded.length + 0.2 * (long.length - flooded.length)) / brief.failing.length,
      hypothesis: `${what}; stripping markup and cutting the input leaves room.`,
      evidence: cite(cited, (fact) => repeatQuote(fact) ?? openingQuote(fact, brief.failing)),
      ...processor("InputCap", "input-cap"),
      fixes: tasksOf(cited),
      risks: ["what stands at the end of a long input is lost"],
    };
  },
};

/** Tools that fail with long messages: repeat the end, where the cause stands. */
export const toolErrorTail: Rule = {
  lever: "processor",
  diagnose(brief) {
    const error = (fact: TraceFacts) => fact.calls.find((call) => call.isError && call.resultChars > 100);
    const failing = brief.failing.filter((fact) => error(fact) !== undefined);
    if (failing.length < 2 || has(brief, "ToolErrorTail")) return undefined;
    return {
      share: failing.length / brief.failing.length,
      hypothesis: `${failing.length} of ${brief.failing.length} failing rollouts have tool errors; repeating their end shows the cause.`,
      evidence: cite(failing, (fact) => {
        const call = error(fact);
        return call && { step: call.step, quote: call.name };
      }),
      ...processor("ToolErrorTail", "tool-error-tail"),
      fixes: tasksOf(failing),
    };
  },
};

/** The form is asked for and yet missing from answers: send the model back once. */
export const finishNudge: Rule = {
  lever: "processor",
  diagnose(brief) {
    const form = answerForm(brief);
    if (form === undefined || !brief.champion.prompt.includes(form.marker) || has(brief, "FinishNudge"))
      return undefined;
    const unmarked = brief.failing.filter(
      ({ answer, exitReason }) => exitReason === "done" && !form.pattern.test(answer),
    );
    if (unmarked.length < 2) return undefined;
    const reminder = `Your reply lacks the line that was asked for. End with one line of the form "${form.marker}${form.separator}<${form.decision}>".`;
    return {
      share: unmarked.length / brief.failing.length,
      hypothesis: `${unmarked.length} of ${brief.failing.length} failing answers lack the form that the prompt asks for; one reminder brings it.`,
      evidence: cite(unmarked, lastSaid),
      ...processor("FinishNudge", "finish-nudge", { must_match: form.pattern.source, reminder }),
      fixes: tasksOf(unmarked),
      risks: ["one more step where the form is missing"],
    };
  },
};

/** The same call again and again: say in its result that nothing new will come. */
export const repeatGuard: Rule = {
  lever: "processor",
  diagnose(brief) {
    const repeating = brief.failing.filter(({ repeats }) => repeats.length > 0);
    if (repeating.length < 2 || has(brief, "RepeatGuard")) return undefined;
    return {
      // Half: a repeated call is mostly the sign of something else.
      share: repeating.length / brief.failing.length / 2,
      hypothesis: `${repeating.length} of ${brief.failing.length} failing rollouts repeat a call with the same input; marking the repeat stops it.`,
      evidence: cite(repeating, repeatQuote),
      ...processor("RepeatGuard", "repeat-guard"),
      fixes: tasksOf(repeating),
    };
  },
};

/** A processor that is there already is not added again. */
function has({ champion }: Brief, name: string): boolean {
  return champion.parts.some((part) => part.kind === "processor" && part.exportName === name);
}

function processor(
  name: string,
  file: string,
  options: Record<string, unknown> = {},
): Pick<Diagnosis, "signature" | "apply"> {
  return {
    signature: { processor: name },
    apply(draft: Draft) {
      draft.files.set(`processors/${file}.ts`, stockPart("processors", file));
      draft.config.processors.push({
        _target_: `file://$GENERATION/processors/${file}.ts::${name}`,
        ...options,
      });
    },
  };
}

function repeatQuote(fact: TraceFacts): { step: number; quote: string } | undefined {
  const [repeat] = fact.repeats;
  return repeat && { step: repeat.step, quote: repeat.name };
}

function openingQuote(
  fact: TraceFacts,
  all: readonly TraceFacts[],
): { step: number; quote: string } | undefined {
  const quote = ownLine(fact, all);
  return quote === undefined ? undefined : { step: 0, quote };
}
