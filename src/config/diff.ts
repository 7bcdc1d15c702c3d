import { canonicalJson } from "../lib/hash.ts";
import type { LoadedHarness } from "./harness.ts";
import { type Lever, levers } from "./harness-schema.ts";

/** A named thing with its source text. */
export interface Named {
  name: string;
  text: string;
}

export interface NamedChange {
  name: string;
  before: string;
  after: string;
}

export interface ListDiff {
  added: Named[];
  removed: Named[];
  /** Those that behave differently; a new comment is no change. */
  changed: NamedChange[];
  /** When those that are in both stand in another order: the names in each. */
  order: { before: string[]; after: string[] } | undefined;
}

export interface Knob {
  /** `limits.max_steps`, `tools.builtin`, `processors.ToolErrorTail.tail_chars`. */
  path: string;
  before: unknown;
  after: unknown;
}

/** What two harnesses differ in, by meaning. */
export interface HarnessDiff {
  tools: ListDiff;
  /** By code; a changed option of a processor that is in both is a knob. */
  processors: ListDiff;
  skills: ListDiff;
  prompt: { before: string; after: string } | undefined;
  knobs: Knob[];
  /** In the order of `levers`. */
  leversTouched: Lever[];
}

export function diffHarness(a: LoadedHarness, b: LoadedHarness): HarnessDiff {
  const tools = diffLists(partsOf(a, "tool"), partsOf(b, "tool"));
  const processors = diffLists(partsOf(a, "processor"), partsOf(b, "processor"));
  const skills = diffLists(skillsOf(a), skillsOf(b));
  const prompt =
    a.prompt.trimEnd() === b.prompt.trimEnd() ? undefined : { before: a.prompt, after: b.prompt };
  const knobs = diffKnobs(a, b, tools);
  const touched: Record<Lever, boolean> = {
    tool: differs(tools),
    processor: differs(processors),
    prompt: prompt !== undefined || differs(skills),
    config: knobs.length > 0,
  };
  return {
    tools,
    processors,
    skills,
    prompt,
    knobs,
    leversTouched: levers.filter((lever) => touched[lever]),
  };
}

interface Item extends Named {
  /** Equal for two that do the same. */
  identity: string;
  options: Record<string, unknown>;
}

function partsOf(harness: LoadedHarness, kind: "tool" | "processor"): Item[] {
  const counts = new Map<string, number>();
  return harness.parts
    .filter((part) => part.kind === kind)
    .map(({ exportName, file, codeHash, options }) => {
      const count = (counts.get(exportName) ?? 0) + 1;
      counts.set(exportName, count);
      const name = count === 1 ? exportName : `${exportName}#${count}`;
      return { name, text: harness.files.get(file) ?? "", identity: codeHash, options };
    });
}

function skillsOf(harness: LoadedHarness): Item[] {
  return harness.skills.map(({ name, description, text }) => {
    const whole = `${description}\n\n${text}`;
    return { name, text: whole, identity: whole, options: {} };
  });
}

function diffLists(before: readonly Item[], after: readonly Item[]): ListDiff {
  const old = new Map(before.map((item) => [item.name, item]));
  const fresh = new Map(after.map((item) => [item.name, item]));
  const shown = ({ name, text }: Item): Named => ({ name, text });
  const changed = after.flatMap((item) => {
    const earlier = old.get(item.name);
    if (earlier === undefined || earlier.identity === item.identity) return [];
    return [{ name: item.name, before: earlier.text, after: item.text }];
  });
  const order = {
    before: before.flatMap(({ name }) => (fresh.has(name) ? [name] : [])),
    after: after.flatMap(({ name }) => (old.has(name) ? [name] : [])),
  };
  return {
    added: after.filter(({ name }) => !old.has(name)).map(shown),
    removed: before.filter(({ name }) => !fresh.has(name)).map(shown),
    changed,
    order: equal(order.before, order.after) ? undefined : order,
  };
}

function differs({ added, removed, changed, order }: ListDiff): boolean {
  return added.length + removed.length + changed.length > 0 || order !== undefined;
}

function diffKnobs(a: LoadedHarness, b: LoadedHarness, tools: ListDiff): Knob[] {
  // A tool that comes or goes takes its name on these lists along: that is no change of a knob.
  const moved = new Set([...tools.added, ...tools.removed].map(({ name }) => name));
  const kept = (list: readonly string[]) => [...new Set(list)].filter((name) => !moved.has(name)).sort();
  const knobsOf = ({ config }: LoadedHarness): Record<string, unknown> => ({
    ...prefixed("limits", { ...config.limits, exclusive: kept(config.limits.exclusive) }),
    "tools.allowlist": config.tools.allowlist && kept(config.tools.allowlist),
    "tools.builtin": config.tools.builtin,
  });
  const old = partsOf(a, "processor");
  const options = partsOf(b, "processor").flatMap(({ name, options: after }) => {
    const earlier = old.find((item) => item.name === name);
    const path = `processors.${name}`;
    return earlier === undefined ? [] : changedKnobs(prefixed(path, earlier.options), prefixed(path, after));
  });
  return [...changedKnobs(knobsOf(a), knobsOf(b)), ...options];
}

function changedKnobs(before: Record<string, unknown>, after: Record<string, unknown>): Knob[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .sort()
    .filter((path) => !equal(before[path], after[path]))
    .map((path) => ({ path, before: before[path], after: after[path] }));
}

function prefixed(prefix: string, record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [`${prefix}.${key}`, value]));
}

function equal(a: unknown, b: unknown): boolean {
  return canonicalJson([a]) === canonicalJson([b]);
}
