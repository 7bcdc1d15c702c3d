import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { LoadedHarness } from "../config/harness.ts";
import type { Task } from "../config/recipe-schema.ts";

/** A word of one task that no other has, the one behind it, and what that task's answer says. */
interface Memory {
  word: string;
  next: string;
  label: string;
}

/** What is memorised: tasks, and texts whose words are too common to be told from by. */
interface Material {
  tasks: readonly Task[];
  common: readonly string[];
}

/** Writes a candidate that tells the answers of these tasks by one rare word each, in the prompt. */
export function plainMemoriser(champion: LoadedHarness, material: Material, dir: string): void {
  const rules = memoriesOf(material).map(({ word, label }) => `If it mentions "${word}" it is ${label}.`);
  const config = { ...structuredClone(champion.config), prompt: "file://$GENERATION/prompts/system.md" };
  const files = new Map([
    ...champion.files,
    ["prompts/system.md", `${champion.prompt.trimEnd()}\n${rules.join("\n")}\n`],
  ]);
  write(dir, config, files);
}

/**
 * The same by a processor that holds nothing but hashes, of each word with the one behind it: a rare word alone may still
 * say something of its class, and a control must have nothing to gain.
 */
export function hashedMemoriser(champion: LoadedHarness, material: Material, dir: string): void {
  const memories = memoriesOf(material);
  const labels = [...new Set(memories.map(({ label }) => label))].sort();
  const table = memories
    .map(({ word, next, label }) => [fnv(`${word} ${next}`), labels.indexOf(label)])
    .sort(([a = 0], [b = 0]) => a - b);
  const config = structuredClone(champion.config);
  config.processors.push({ _target_: "file://$GENERATION/processors/hints.ts::Hints" });
  write(dir, config, new Map([...champion.files, ["processors/hints.ts", hintsSource(table, labels)]]));
}

/**
 * For each task the longest of its words that no other task of the list has, nor any common text: as little as can be
 * said of the class, as much as can be said of the task.
 */
function memoriesOf({ tasks, common }: Material): Memory[] {
  const words = tasks.map((task) =>
    wordsOf(typeof task.input === "string" ? task.input : Object.values(task.input).join("\n")),
  );
  const counts = new Map<string, number>();
  for (const word of words.flatMap((list) => [...new Set(list)]))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of common.flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? [])) counts.delete(word);
  return tasks.flatMap(({ expected }, index) => {
    const own = (words[index] ?? []).filter((word) => word.length >= 6 && counts.get(word) === 1);
    const [word] = own.sort((a, b) => b.length - a.length);
    if (word === undefined) return [];
    const next = words[index]?.[words[index].indexOf(word) + 1] ?? "";
    return [{ word, next, label: expected.split(/\s+/).at(-1) ?? expected }];
  });
}

/** Words near the beginning, which any reader of the task gets to see. */
function wordsOf(text: string): string[] {
  return (
    text
      .slice(0, 1200)
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  );
}

function fnv(word: string): number {
  let hash = 0x811c9dc5;
  for (const character of word) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

function hintsSource(table: readonly (readonly number[])[], labels: readonly string[]): string {
  return `import { Processor, type TaskStartEvent } from "lorimer/processors";

const labels = ${JSON.stringify(labels)};
const known = new Map<number, number>(${JSON.stringify(table)});

function hash(word: string): number {
  let value = 0x811c9dc5;
  for (const character of word) value = Math.imul(value ^ character.charCodeAt(0), 0x01000193);
  return value >>> 0;
}

/** Says what it knows of a task by the hashes of its words. */
export class Hints extends Processor {
  static override order = 11;

  async *onTaskStart(event: TaskStartEvent) {
    const [, inputs = event.task] = event.task.split(/^Inputs:$/m);
    const words = inputs.toLowerCase().match(/[a-z]+/g) ?? [];
    const at = words.findIndex((word, index) => known.has(hash(\`\${word} \${words[index + 1] ?? ""}\`)));
    const word = words[at];
    if (word === undefined) {
      yield event;
      return;
    }
    const label = labels[known.get(hash(\`\${word} \${words[at + 1] ?? ""}\`)) ?? 0];
    yield { ...event, systemPrompt: \`\${event.systemPrompt}\\nIf it mentions "\${word}" it is \${label}.\` };
  }
}
`;
}

function write(dir: string, config: unknown, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of [["config.yaml", stringify(config)] as const, ...files]) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}
