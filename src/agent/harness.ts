import type { Skill } from "../config/harness.ts";
import type { Limits } from "../config/harness-schema.ts";
import type { ToolSchema } from "../trace/messages.ts";
import { PartError, type ProcessorPart, type ToolPart } from "./parts.ts";

/** Everything round the model, opened for one rollout. */
export interface Harness {
  systemPrompt: string;
  tools: ReadonlyMap<string, ToolPart>;
  /** In the order in which their hooks run. */
  processors: readonly ProcessorPart[];
  limits: Limits;
  /** Undefined: every tool of the harness may be called. */
  allowlist: ReadonlySet<string> | undefined;
}

export function toolSchemas(harness: Harness): ToolSchema[] {
  return [...harness.tools.values()].map((tool) => tool.schema);
}

/** The recipe's allowlist (`*`: all), as the config narrows it; a config can never add to it. Undefined: all may be called. */
export function allowed(
  recipe: readonly string[],
  config: readonly string[] | null,
): ReadonlySet<string> | undefined {
  const open = recipe.includes("*");
  if (config === null) return open ? undefined : new Set(recipe);
  return new Set(open ? config : config.filter((name) => recipe.includes(name)));
}

/** Sorts by `order`, ties by list; then moves each behind the groups of its `after`. */
export function orderProcessors(processors: readonly ProcessorPart[]): ProcessorPart[] {
  refuseDoubleGroups(processors);
  const waiting = processors
    .map((part, index) => ({ part, index }))
    .sort((a, b) => a.part.order - b.part.order || a.index - b.index)
    .map(({ part }) => part);
  const ordered: ProcessorPart[] = [];
  while (waiting.length > 0) {
    const groups = new Set(waiting.map((part) => part.group));
    const next = waiting.findIndex(
      (part) => !part.after.some((group) => group !== part.group && groups.has(group)),
    );
    if (next === -1)
      throw new PartError("config.yaml", `\`after\` of ${waiting.map((p) => p.name).join(", ")} is a circle`);
    ordered.push(...waiting.splice(next, 1));
  }
  return ordered;
}

function refuseDoubleGroups(processors: readonly ProcessorPart[]): void {
  const owners = new Map<string, string>();
  for (const { name, group } of processors) {
    if (group === undefined) continue;
    const owner = owners.get(group);
    if (owner !== undefined)
      throw new PartError("config.yaml", `${owner} and ${name} are both of group ${group}`);
    owners.set(group, name);
  }
}

/** The prompt's lines on skills: one each; the text comes by `invoke_skill`. */
export function skillLines(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines = skills.map((skill) => `- ${skill.name}: ${skill.description}`);
  return `\n\nSkills (load one with invoke_skill):\n${lines.join("\n")}`;
}
