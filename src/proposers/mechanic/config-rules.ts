import { builtinToolNames } from "../../config/harness-schema.ts";
import type { TraceFacts } from "../../trace/facts.ts";
import { cite, lastSaid, mayCall, type Rule, tasksOf } from "./rule.ts";

const longTask = 3000;
/** What InputCap cuts at when it is not told. */
const stockCap = 1500;

/** Rollouts that run out of steps: allow more, up to the recipe's ceiling. */
export const moreSteps: Rule = {
  lever: "config",
  diagnose({ failing, champion, ceilings }) {
    const capped = failing.filter(({ exitReason }) => exitReason === "max_steps");
    const now = champion.config.limits.max_steps;
    const next = Math.min(ceilings.max_steps, now * 2);
    if (capped.length < 2 || next <= now) return undefined;
    const repeating = capped.filter(({ repeats }) => repeats.length > 0).length;
    return {
      // A rollout that repeats itself does not run out of steps for want of steps.
      share: (capped.length - 0.8 * repeating) / failing.length,
      hypothesis: `${capped.length} of ${failing.length} failing rollouts end at ${now} steps; ${next} let them finish.`,
      evidence: cite(capped, lastSaidOrCall),
      signature: { knob: "limits.max_steps" },
      fixes: tasksOf(capped),
      risks: ["rollouts that loop cost twice as much"],
      apply: (draft) => {
        draft.config.limits.max_steps = next;
      },
    };
  },
};

/** Calls to built-in tools that the config leaves out: put them in. */
export const enableBuiltin: Rule = {
  lever: "config",
  diagnose(brief) {
    const { failing } = brief;
    for (const name of builtinToolNames.filter((each) => mayCall(brief, each))) {
      const wished = (fact: TraceFacts) =>
        fact.calls.find((call) => call.disposition === "unknown" && call.name === name);
      const asking = failing.filter((fact) => wished(fact) !== undefined);
      if (asking.length < 2) continue;
      return {
        share: asking.length / failing.length,
        hypothesis: `${asking.length} of ${failing.length} failing rollouts call ${name}, which exists and is not enabled.`,
        evidence: cite(asking, (fact) => {
          const call = wished(fact);
          return call && { step: call.step, quote: call.name };
        }),
        signature: { knob: `tools.builtin.${name}` },
        fixes: tasksOf(asking),
        apply: (draft) => {
          draft.config.tools.builtin.push(name);
          draft.config.tools.allowlist?.push(name);
        },
      };
    }
    return undefined;
  },
};

/** An input cap that is there, and inputs that are long all the same: cut closer before adding anything new. */
export const tighterCap: Rule = {
  lever: "config",
  diagnose({ failing, champion }) {
    const index = champion.config.processors.findIndex(({ _target_ }) => _target_.endsWith("::InputCap"));
    const long = failing.filter(({ taskChars }) => taskChars > longTask);
    if (index === -1 || long.length < 2) return undefined;
    const now = Number(champion.config.processors[index]?.["max_chars"] ?? stockCap);
    const next = Math.max(500, Math.round(now / 2));
    if (next >= now) return undefined;
    return {
      share: (0.2 * long.length) / failing.length,
      hypothesis: `${long.length} of ${failing.length} failing rollouts have a task of over ${longTask} characters; cutting at ${next} instead of ${now} leaves more room.`,
      evidence: cite(long, lastSaidOrCall),
      signature: { knob: "processors.InputCap.max_chars" },
      fixes: tasksOf(long),
      risks: ["what stands after the cut is lost"],
      apply: (draft) => {
        const entry = draft.config.processors[index];
        if (entry) entry["max_chars"] = next;
      },
    };
  },
};

function lastSaidOrCall(fact: TraceFacts): { step: number; quote: string } | undefined {
  const call = fact.calls.at(-1);
  return lastSaid(fact) ?? (call && { step: call.step, quote: call.name });
}
