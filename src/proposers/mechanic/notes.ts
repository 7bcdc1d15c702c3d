import type { NoteDraft } from "../../config/candidate-schema.ts";
import { oneLine } from "../../trace/plain-text.ts";
import type { Brief } from "../proposer.ts";

/** What only a person can settle, as far as the trajectories show it. */
export function notesFor(brief: Brief): NoteDraft[] {
  return [...missingInputs(brief), ...stubbornTasks(brief)];
}

/** Inputs that the recipe declares and no task brings. */
function missingInputs({ spec, failing, passing, resources }: Brief): NoteDraft[] {
  const all = [...failing, ...passing];
  return (spec?.inputs ?? []).flatMap((name): NoteDraft[] => {
    const without = all.filter(({ taskHead }) => taskHead.includes(`- ${name}: not provided`));
    if (without.length === 0 || without.length < all.length) return [];
    const lies =
      resources.length > 0
        ? ` The resources hold ${resources.slice(0, 10).join(", ")}${resources.length > 10 ? " and others" : ""}.`
        : "";
    return [
      {
        kind: "decision",
        ask: `Should tasks bring the declared input ${name}, or should it be taken out of the recipe's spec?`,
        why: `The spec declares ${name}, but each of ${all.length} rollouts says that it is not provided, so no agent can use it.${lies} If one of them is meant, a tool can read it; if tasks should carry it, the tasks need mending.`,
        evidence: without.slice(0, 3).map(({ rollout }) => rollout),
        blocking: false,
      },
    ];
  });
}

const goodEnough = 0.8;
/** Characters of task ids in a note, whose wish is one sentence. */
const longestList = 200;

/** Tasks that fail on every seed under a champion that passes nearly all others: perhaps their answers are wrong. */
function stubbornTasks({ failing, passing, championName }: Brief): NoteDraft[] {
  const passes = new Set(passing.map(({ task }) => task));
  const tasks = [...new Set(failing.map(({ task }) => task))].filter((task) => !passes.has(task)).sort();
  const total = failing.length + passing.length;
  if (tasks.length === 0 || passing.length / total < goodEnough) return [];
  const shown = oneLine(tasks.join(", "), longestList);
  return [
    {
      kind: "bad-task",
      ask: `Check the expected answers of these tasks: ${shown}`,
      why: `${championName} passes ${passing.length} of ${total} rollouts, yet ${tasks.length} tasks failed on every seed. Either they need something that no part offers, or their labels are wrong.`,
      evidence: failing
        .filter(({ task }) => tasks.includes(task))
        .slice(0, 5)
        .map(({ rollout }) => rollout),
      blocking: false,
    },
  ];
}
