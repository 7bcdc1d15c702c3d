import { parseAllDocuments } from "yaml";
import { isCodeFile } from "../source-tree.ts";
import { passagesOfCode } from "./constants.ts";

/**
 * A piece of a candidate's text, and how it stands there: `constant` (a folded string, a scalar of a data file),
 * `joined` (pieces put together that may never be), `number`, `name` (an identifier, a file name), `comment`, `prose`.
 */
export interface Passage {
  text: string;
  /** Line of the passage's first character, from 1. */
  line: number;
  role: "constant" | "joined" | "number" | "name" | "comment" | "prose";
}

/** All text of one file that could carry something of a task. */
export function passagesOf(file: string, text: string): Passage[] {
  const name: Passage = { text: file, line: 1, role: "name" };
  const content = isCodeFile(file)
    ? passagesOfCode(file, text)
    : [...passagesOfData(file, text), prose(text)];
  const passages = [name, ...content];
  return [...passages, ...passages.flatMap(decoded)];
}

function prose(text: string): Passage {
  return { text, line: 1, role: "prose" };
}

/** The scalars of JSON, JSON lines and YAML, where escapes could hide them from the raw text. */
function passagesOfData(file: string, text: string): Passage[] {
  if (file.endsWith(".jsonl")) {
    return text
      .split("\n")
      .flatMap((line, index) => scalarsOf(line, index + 1, (source) => [JSON.parse(source)]));
  }
  if (file.endsWith(".json")) return scalarsOf(text, 1, (source) => [JSON.parse(source)]);
  if (!/\.ya?ml$/.test(file)) return [];
  return scalarsOf(text, 1, (source) =>
    parseAllDocuments(source).map((document) => document.toJS({ maxAliasCount: 100 })),
  );
}

function scalarsOf(text: string, line: number, parse: (text: string) => unknown[]): Passage[] {
  if (text.trim() === "") return [];
  const found: Passage[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string") found.push({ text: value, line: lineOf(value), role: "constant" });
    else if (typeof value === "number")
      found.push({ text: String(value), line: lineOf(String(value)), role: "number" });
    else if (Array.isArray(value)) for (const item of value) visit(item);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        found.push({ text: key, line: lineOf(key), role: "constant" });
        visit(item);
      }
    }
  };
  const lineOf = (scalar: string): number => {
    const at = text.indexOf(scalar.split("\n")[0] ?? scalar);
    return at === -1 ? line : line + text.slice(0, at).split("\n").length - 1;
  };
  try {
    visit(parse(text));
  } catch {
    return []; // not what its name says: the raw text is looked at anyway
  }
  return found;
}

const longestDecoded = 20_000;

/** Base64 and hex inside a passage that decode to readable text. */
function decoded({ text, line, role }: Passage): Passage[] {
  if (role === "name" || role === "number" || text.length > longestDecoded) return [];
  return [...text.matchAll(/[A-Za-z0-9+/_-]{8,}={0,2}/g)].flatMap(([word]) => {
    const encodings: BufferEncoding[] = /^(?:[0-9a-f]{2})+$/i.test(word) ? ["hex", "base64"] : ["base64"];
    return encodings
      .map((encoding) => Buffer.from(word, encoding).toString("latin1"))
      .filter((plain) => plain.length > 3 && /^[\x20-\x7e\n\t]+$/.test(plain))
      .map((plain): Passage => ({ text: plain, line, role: role === "comment" ? "comment" : "constant" }));
  });
}
