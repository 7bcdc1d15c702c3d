import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  type LineCounter,
  Parser,
  visit,
  type YAMLMap,
} from "yaml";
import { LorimerError } from "../lib/errors.ts";

const maxDepth = 64;
const maxAliases = 100;
const coreTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);
const syntaxHints: Record<string, string> = {
  TAB_AS_INDENT: "Indent with spaces.",
  MISSING_CHAR: "Close the quote or bracket.",
  BAD_SCALAR_START: "Put the text in quotes.",
};

/** Turns an offset in the text into `path:line:column`. */
export type Place = (offset: number) => string;

/** An error at an offset of the text. */
type Fault = (offset: number, what: string, hint: string) => LorimerError;

/** One YAML 1.2 core document that is safe to turn into data. @throws LorimerError `config` */
export function composeDocument(text: string, lines: LineCounter, at: Place): Document {
  const fault: Fault = (offset, what, hint) => new LorimerError("config", `${at(offset)}: ${what}`, { hint });
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  // The parser is a loop but the composer recurses, and the end of its stack can end the process: look first.
  const deep = tooDeep(tokens);
  if (deep !== undefined) throw fault(deep, `nested more than ${maxDepth} levels deep`, "Flatten it.");
  const composer = new Composer({ version: "1.2", schema: "core", merge: false, uniqueKeys: false });
  const documents = [...composer.compose(tokens)];
  const syntax = documents.flatMap((each) => each.errors)[0];
  if (syntax !== undefined) {
    const what = syntax.message.charAt(0).toLowerCase() + syntax.message.slice(1);
    throw fault(syntax.pos[0], what, syntaxHints[syntax.code] ?? "Correct the YAML there.");
  }
  const [document, second] = documents;
  if (document === undefined || isEmpty(document))
    throw fault(0, "the file is empty", "Write something into it.");
  if (second !== undefined) throw fault(second.range[0], "a second YAML document", "Keep one document.");
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== "1.2") {
    throw fault(0, `YAML ${version} is asked for`, "Remove the %YAML line: it is read as YAML 1.2.");
  }
  refuseOddNodes(document as Document, at, fault);
  return document as Document;
}

/** @throws LorimerError `config` when its aliases blow it up */
export function toData(document: Document, at: Place): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new LorimerError("config", `${at(0)}: too many aliases of aliases`, {
      hint: "Write the values out.",
    });
  }
}

/** Offset of the first token that lies too deep. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  const waiting: { token: CST.Token | null | undefined; depth: number }[] = tokens.map((token) => ({
    token,
    depth: 0,
  }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (!token) continue;
    if (depth > maxDepth) return "offset" in token ? token.offset : 0;
    if (token.type === "document") waiting.push({ token: token.value, depth });
    if (!("items" in token)) continue;
    for (const item of token.items) {
      waiting.push({ token: item.key, depth: depth + 1 }, { token: item.value, depth: depth + 1 });
    }
  }
  return undefined;
}

function isEmpty({ contents }: Document.Parsed): boolean {
  return (
    !isNode(contents) || (isScalar(contents) && contents.value === null && (contents.source ?? "") === "")
  );
}

function refuseOddNodes(document: Document, at: Place, fault: Fault): void {
  visit(document, {
    Node(_key, node, ancestors) {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node)) {
        const target = node.resolve(document);
        const hint = "Write the value out.";
        if (target === undefined) throw fault(offset, `no anchor named \`${node.source}\` above`, hint);
        if (ancestors.includes(target as never)) throw fault(offset, "an alias of what it stands in", hint);
        return;
      }
      if (node.tag !== undefined && !coreTags.has(node.tag)) {
        throw fault(offset, `the tag \`${node.tag}\` is not allowed`, "Only plain YAML 1.2 values are read.");
      }
      if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value)) {
        throw fault(offset, "a number must be finite", "Use a number, or leave the key out.");
      }
      if (isMap(node)) refuseOddKeys(node, at, fault);
    },
  });
}

function refuseOddKeys(map: YAMLMap, at: Place, fault: Fault): void {
  const places = new Map<string, number>();
  for (const { key } of map.items) {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
    if (!isScalar(key) || key.value === null || key.value === "__proto__") {
      throw fault(offset, "this cannot be a key", "A key is plain text.");
    }
    const name = String(key.value);
    const earlier = places.get(name);
    if (earlier !== undefined) {
      throw fault(offset, `duplicate key \`${name}\`, first at ${at(earlier)}`, "Keep one of the two.");
    }
    places.set(name, offset);
  }
}
