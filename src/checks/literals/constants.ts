import { type Names, resolveNames } from "../scopes.ts";
import { isWrapper, nodeAt, parseSource, type SourceTree, type TreeNode, walk } from "../source-tree.ts";
import { Folder } from "./folding.ts";
import type { Passage } from "./passages.ts";
import { hole, unknownValue, type Value } from "./values.ts";

const skipped = new Set(["Identifier", "TemplateElement", "Property", "SpreadElement", "VariableDeclarator"]);

/**
 * Every constant of a source file, folded, with its line: literals, what expressions of constants give, names, the
 * words of regular expressions, comments. Throws a SyntaxError, a FoldingLimit, or a RangeError (nested too deeply).
 */
export function passagesOfCode(file: string, source: string): Passage[] {
  const tree = parseSource(file, source);
  if (tree.errors[0] !== undefined) throw new SyntaxError(tree.errors[0]);
  const found = new Map<string, Passage>();
  const add = (role: Passage["role"], text: string, offset: number): void => {
    for (const part of text.split(hole)) {
      const key = `${role}\n${part}`;
      if (part !== "" && !found.has(key)) found.set(key, { text: part, line: tree.lineAt(offset), role });
    }
  };
  for (const { text, start } of tree.comments) add("comment", text, start);
  addExpressions(tree, resolveNames(tree.program), add);
  return [...found.values()];
}

type Add = (role: Passage["role"], text: string, offset: number) => void;

function addExpressions(tree: SourceTree, names: Names, add: Add): void {
  const folder = new Folder(names);
  for (const { node, parent } of walk(tree.program)) {
    if (node.type === "Identifier") add("name", String(node["name"]), node.start);
    if (node.type === "PrivateIdentifier") add("name", String(node["name"]), node.start);
    if (skipped.has(node.type) || node.type.endsWith("Statement") || isWrapper(node)) continue;
    if (parent !== undefined && isPartOfSum(node, parent, folder)) continue;
    for (const [role, text] of piecesOf(folder.fold(node), node, folder)) add(role, text, node.start);
  }
  for (const binding of new Set(names.bindings.values())) {
    const grown = grownText(binding.source, binding.writes, folder);
    if (grown !== undefined) add("constant", grown, binding.declared.start);
  }
}

/** The steps of a long concatenation say nothing that the whole does not. */
function isPartOfSum(node: TreeNode, parent: TreeNode, folder: Folder): boolean {
  if (node.type !== "BinaryExpression" || parent.type !== "BinaryExpression" || parent["operator"] !== "+")
    return false;
  return typeof folder.fold(parent) === "string";
}

type Piece = [role: Passage["role"], text: string];

function piecesOf(value: Value, node: TreeNode, folder: Folder): Piece[] {
  folder.spend();
  if (typeof value === "string") return [["constant", value]];
  if (typeof value === "number") return [["number", String(value)]];
  if (Array.isArray(value)) return piecesOfList(value, node, folder);
  if (value instanceof Uint8Array) return [["constant", Buffer.from(value).toString("latin1")]];
  if (typeof value !== "object" || value === null) return [];
  if (value.type === "regex") return [["constant", patternText(value.source)]];
  if (value.type !== "object" || node.type === "ObjectExpression") return [];
  return [...value.entries].flatMap(([key, item]): Piece[] => [
    ["constant", key],
    ...piecesOf(item, node, folder),
  ]);
}

/** Lists are looked at item by item and joined: a loop that folding does not follow may join them. */
function piecesOfList(items: Value[], node: TreeNode, folder: Folder): Piece[] {
  const texts = items.filter((item) => typeof item === "string");
  const codes = items.filter((item) => typeof item === "number");
  const isText = codes.length > 3 && codes.every((code) => Number.isInteger(code) && code > 31 && code < 127);
  const joined: Piece[] = [
    ["joined", texts.length > 1 ? texts.join("") : ""],
    ["joined", isText ? String.fromCharCode(...codes) : ""],
  ];
  // The items of a literal list are nodes of their own.
  if (node.type === "ArrayExpression") return joined;
  return [...joined, ...items.flatMap((item) => piecesOf(item, node, folder))];
}

/** `let s = "a"; s += "b"`: what the pieces give in the order of the file. */
function grownText(source: TreeNode | undefined, writes: TreeNode[], folder: Folder): string | undefined {
  if (source === undefined || writes.length === 0) return undefined;
  if (writes.some((write) => write["operator"] !== "+=" && write["operator"] !== "=")) return undefined;
  const pieces = [nodeAt(source, "init"), ...writes.map((write) => nodeAt(write, "right"))];
  return pieces
    .map((piece) => (piece === undefined ? "" : folder.fold(piece)))
    .map((piece) => (piece === unknownValue || typeof piece === "object" ? hole : String(piece)))
    .join("");
}

const longestPattern = 5000;

/** The text that a regular expression spells out; whatever it leaves open is a hole. */
function patternText(source: string): string {
  if (source.length > longestPattern) return source;
  return source
    .replace(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g, (_match, long?: string, short?: string) =>
      String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(long ?? short ?? "0", 16))),
    )
    .replace(/\[([^\\\]^])\]/g, "$1")
    .replace(/\[(?:\\.|[^\]\\])*\]|\\[dDwWSpPkcB1-9]|\{[\d,]+\}/g, hole)
    .replace(/\\s[+*?]?|\\[nrtfv]/g, " ")
    .replace(/\(\?(?:[:=!]|<[=!]|<[^>]*>)|[()^$]|\\b/g, "")
    .replace(/\\(.)/g, "$1")
    .replace(/[.*+?|]/g, (symbol, at: number, whole: string) =>
      isDecimalPoint(whole, at, symbol) ? "." : hole,
    );
}

/** `2451.4` in a pattern means the number, whatever else the dot would match. */
function isDecimalPoint(text: string, at: number, symbol: string): boolean {
  return symbol === "." && /\d/.test(text[at - 1] ?? "") && /\d/.test(text[at + 1] ?? "");
}
