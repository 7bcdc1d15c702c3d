import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { ToolContext } from "../../agent/tools/define.ts";
import { filesBelow, pathBelow } from "./files.ts";
import { freezeDeep } from "./lock.ts";
import { createRanker } from "./rank.ts";

const maxResourceBytes = 64 * 2 ** 20;
const maxWorkspaceFileBytes = 2 ** 20;
const maxWorkspaceFiles = 100;
const maxResources = 1000;
const maxRanked = 100;
const maxRankedText = 100_000;

type Ranked = (text: string, k: number) => { score: number; record: Record<string, unknown> }[];

/** What tools may reach. Texts and indexes are kept here, where authored code sees neither. */
export function createContext({
  resources,
  workspace,
}: {
  resources?: string;
  workspace: string;
}): ToolContext {
  const names = resources === undefined ? [] : filesBelow(resources, maxResources);
  const texts = new Map<string, string>();
  const rankers = new Map<string, Ranked>();

  const textOf = (name: unknown): string => {
    if (resources === undefined || !names.includes(name as string)) throw new Error(noResource(name, names));
    const known = texts.get(name as string);
    if (known !== undefined) return known;
    const text = readText(`${resources}/${name}`, `resource ${name}`, maxResourceBytes);
    texts.set(name as string, text);
    return text;
  };
  const rankerOf = (name: unknown): Ranked => {
    const text = textOf(name);
    const known = rankers.get(text);
    if (known !== undefined) return known;
    const made = rankerOver(text, String(name));
    rankers.set(text, made);
    return made;
  };

  const context: ToolContext = {
    resources: names,
    resource: async (name) => textOf(name),
    rank: async (name, text, k) => {
      if (typeof text !== "string") throw new Error("rank: text must be a string");
      if (!Number.isInteger(k) || k < 1 || k > maxRanked)
        throw new Error(`rank: k must be 1 to ${maxRanked}`);
      return rankerOf(name)(text.slice(0, maxRankedText), k);
    },
    workspace: createWorkspace(workspace),
  };
  freezeDeep(context);
  return context;
}

function noResource(name: unknown, names: readonly string[]): string {
  const known = names.length === 0 ? "there are none" : `there are ${names.join(", ")}`;
  return `no resource ${JSON.stringify(name)}: ${known}`;
}

/** Records are parsed anew for each answer: a change that one rollout makes must not reach the next. */
function rankerOver(text: string, name: string): Ranked {
  const lineOf = new Map<Record<string, unknown>, string>();
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    const record = parseRecord(line, `${name}, line ${index + 1}`);
    lineOf.set(record, line);
  });
  const rank = createRanker([...lineOf.keys()]);
  return (wanted, k) =>
    rank(wanted, k).map(({ score, record }) => ({ score, record: JSON.parse(lineOf.get(record) ?? "{}") }));
}

function parseRecord(line: string, where: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Error(`${where}: not a JSON object`);
}

function createWorkspace(root: string): ToolContext["workspace"] {
  return {
    read: async (path) => readText(pathBelow(root, path), path, maxWorkspaceFileBytes),
    write: async (path, text) => {
      if (typeof text !== "string") throw new Error("write: text must be a string");
      if (Buffer.byteLength(text) > maxWorkspaceFileBytes) {
        throw new Error(`"${path}" would be larger than ${maxWorkspaceFileBytes} bytes`);
      }
      const target = pathBelow(root, path);
      const files = filesBelow(root, maxWorkspaceFiles);
      if (files.length >= maxWorkspaceFiles && !files.includes(path)) {
        throw new Error(`the workspace holds ${maxWorkspaceFiles} files already`);
      }
      mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
      withFile(target, { flags, shown: path }, (file) => writeFileSync(file, text));
    },
    list: async () => filesBelow(root, maxWorkspaceFiles),
  };
}

function readText(path: string, shown: string, maxBytes: number): string {
  return withFile(path, { flags: constants.O_RDONLY | constants.O_NOFOLLOW, shown }, (file) => {
    const { size } = fstatSync(file);
    if (size > maxBytes) throw new Error(`${shown} has ${size} bytes, more than ${maxBytes}`);
    return readFileSync(file, "utf8");
  });
}

/** Opens, uses, closes; an error names the path as authored code knows it, never the host's. */
function withFile<Result>(
  path: string,
  { flags, shown }: { flags: number; shown: string },
  use: (file: number) => Result,
): Result {
  let file: number;
  try {
    file = openSync(path, flags, 0o600);
  } catch {
    throw new Error(`${shown} cannot be opened`);
  }
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}
