import type { Recipe, Task } from "../config/recipe-schema.ts";
import { LorimerError } from "../lib/errors.ts";
import { seededRandom, shuffled } from "../lib/random.ts";

const splitNames = ["evolve", "gate", "test"] as const;
export type Splits = Record<(typeof splitNames)[number], Task[]>;

/** Balance makes sense where answers are labels: few of them, each shared by several tasks. */
const mostLabels = 20;
const fewestOfLabel = 3;

/** A split being filled; `room` is how many more tasks of each kind it takes. */
interface Draft {
  name: keyof Splits;
  size: number;
  tasks: Task[];
  room: Map<string, number>;
}

/**
 * Draws the splits by group: tasks of one group (`task.group`, else the task alone) are all in one split or unused.
 * Where the expected answers are labels, each split has an equal share of each, as far as the tasks allow.
 * @throws LorimerError `config` when there are too few tasks
 */
export function drawSplits(tasks: readonly Task[], sizes: Recipe["splits"], seed: number): Splits {
  const random = seededRandom("splits", seed);
  const labels = labelsOf(tasks);
  const drafts = splitNames.map((name): Draft => {
    return { name, size: sizes[name], tasks: [], room: equalShares(sizes[name], shuffled(labels, random)) };
  });
  const unused = deal(shuffled(groupsOf(tasks), random), drafts, (task) => task.expected);
  for (const draft of drafts) draft.room = new Map([["any", draft.size - draft.tasks.length]]);
  deal(unused, drafts, () => "any");

  if (drafts.some((draft) => draft.tasks.length < draft.size)) throw tooFew(tasks, drafts);
  return Object.fromEntries(drafts.map((draft) => [draft.name, draft.tasks])) as Splits;
}

function labelsOf(tasks: readonly Task[]): string[] {
  const counts = new Map<string, number>();
  for (const { expected } of tasks) counts.set(expected, (counts.get(expected) ?? 0) + 1);
  const areLabels =
    counts.size <= mostLabels && [...counts.values()].every((count) => count >= fewestOfLabel);
  return areLabels ? [...counts.keys()].sort() : [];
}

function equalShares(size: number, labels: readonly string[]): Map<string, number> {
  const whole = Math.floor(size / labels.length);
  return new Map(labels.map((label, index) => [label, whole + (index < size % labels.length ? 1 : 0)]));
}

/** Groups in an order that does not depend on the order of the tasks. */
function groupsOf(tasks: readonly Task[]): Task[][] {
  const groups = new Map<string, Task[]>();
  for (const task of [...tasks].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const key = JSON.stringify(task.group === undefined ? ["task", task.id] : ["group", task.group]);
    groups.set(key, [...(groups.get(key) ?? []), task]);
  }
  return [...groups.keys()].sort().map((key) => groups.get(key) ?? []);
}

/** Gives each group to the split that has room for most of it; returns the groups for which none has. */
function deal(groups: readonly Task[][], drafts: readonly Draft[], kindOf: (task: Task) => string): Task[][] {
  return groups.filter((group) => {
    const offers = drafts
      .map((draft) => ({
        draft,
        taken: fitting(group, draft, kindOf),
        filled: draft.tasks.length / draft.size,
      }))
      .filter(({ taken }) => taken.length > 0)
      .sort((a, b) => b.taken.length - a.taken.length || a.filled - b.filled);
    const best = offers[0];
    if (best === undefined) return true;
    for (const task of best.taken) {
      best.draft.tasks.push(task);
      best.draft.room.set(kindOf(task), (best.draft.room.get(kindOf(task)) ?? 0) - 1);
    }
    return false;
  });
}

function fitting(group: readonly Task[], { room }: Draft, kindOf: (task: Task) => string): Task[] {
  const left = new Map(room);
  return group.filter((task) => {
    const places = left.get(kindOf(task)) ?? 0;
    left.set(kindOf(task), places - 1);
    return places > 0;
  });
}

function tooFew(tasks: readonly Task[], drafts: readonly Draft[]): LorimerError {
  const wanted = drafts.map(({ name, size }) => `${name} ${size}`).join(", ");
  const got = drafts.map((draft) => `${draft.name} ${draft.tasks.length}`).join(", ");
  const groups = groupsOf(tasks).length;
  return new LorimerError(
    "config",
    `splits: ${tasks.length} tasks in ${groups} groups do not fill ${wanted}; they gave ${got}`,
    { hint: "Lower the sizes under splits in recipe.yaml, or add tasks; a group never spans two splits." },
  );
}
