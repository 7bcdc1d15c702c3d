import { spawnSync } from "node:child_process";
import { parseSync, visitorKeys } from "oxc-parser";
import { LorimerError } from "../lib/errors.ts";
import { packageRoot } from "../lib/package-root.ts";

/** A node of the ESTree that oxc gives, read by key: the checks look at shapes, not at one grammar's types. */
export interface TreeNode {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

export interface Comment {
  text: string;
  start: number;
}

export interface SourceTree {
  file: string;
  program: TreeNode;
  comments: Comment[];
  /** Syntax errors; the tree is then incomplete. */
  errors: string[];
  /** Line of an offset, from 1. */
  lineAt(offset: number): number;
}

const codeFile = /\.[cm]?[jt]sx?$/;

export function isCodeFile(path: string): boolean {
  return codeFile.test(path);
}

/** Parses TypeScript or JavaScript. Whatever is wrong with the source is in `errors`. */
export function parseSource(file: string, source: string): SourceTree {
  if (!canParse(file, source)) return { ...parseSource(file, ""), errors: ["it is nested too deeply"] };
  const parsed = parseSync(file, source, { sourceType: "module" });
  return {
    file,
    program: parsed.program as unknown as TreeNode,
    comments: parsed.comments.map(({ value, start }) => ({ text: value, start })),
    errors: parsed.errors.map((error) => error.message),
    lineAt: lineCounter(source),
  };
}

/** Fewer tokens than this cannot nest deeply enough to overflow the native parser's stack (seen from 4,000 levels). */
const harmlessTokens = 2500;
const parseScript = `import { readFileSync } from "node:fs"; import { parseSync } from "oxc-parser";
parseSync(process.argv[1], readFileSync(0, "utf8"), { sourceType: "module" }).program;`;

/**
 * The native parser dies with its process on deep nesting, so a source that is large enough for it is first parsed in
 * a process of its own, on half the stack.
 */
function canParse(file: string, source: string): boolean {
  if ((source.match(/\w+|[^\w\s]/g)?.length ?? 0) < harmlessTokens) return true;
  const node = [process.execPath, "--input-type=module", "-e", parseScript, file.replace(/^.*\./, "source.")];
  const { error, status } = spawnSync("/bin/sh", ["-c", 'ulimit -s 4096 && exec "$0" "$@"', ...node], {
    cwd: packageRoot,
    env: {},
    input: source,
    stdio: ["pipe", "ignore", "ignore"],
    timeout: 10_000,
  });
  if (error !== undefined && !("code" in error && (error.code === "ETIMEDOUT" || error.code === "EPIPE"))) {
    throw new LorimerError("infra", `cannot start a process to parse ${file}`, { cause: error });
  }
  return status === 0;
}

/** A function from an offset in `text` to its line, from 1. */
export function lineCounter(text: string): (offset: number) => number {
  const breaks: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) breaks.push(at);
  return (offset) => {
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

export function isNode(value: unknown): value is TreeNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The node under `key`, if there is one. */
export function nodeAt(node: TreeNode, key: string): TreeNode | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

/** The nodes of the list under `key`; holes of arrays are left out. */
export function nodesAt(node: TreeNode, key: string): TreeNode[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function children(node: TreeNode): TreeNode[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value = node[key];
    if (Array.isArray(value)) return value.filter(isNode);
    return isNode(value) ? [value] : [];
  });
}

/** Every node of the tree, parents first, with its parent. Iterative: depth is the candidate's to choose. */
export function* walk(root: TreeNode): Generator<{ node: TreeNode; parent: TreeNode | undefined }> {
  const pending: { node: TreeNode; parent: TreeNode | undefined }[] = [{ node: root, parent: undefined }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    const { node } = next;
    for (const child of children(node).reverse()) pending.push({ node: child, parent: node });
  }
}

const typeWrappers = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
]);

/** `x as T`, `x!`, `(x)`, `x?.y`: an expression that stands for the one inside it. */
export function isWrapper(node: TreeNode): boolean {
  return (
    typeWrappers.has(node.type) || node.type === "ParenthesizedExpression" || node.type === "ChainExpression"
  );
}

/** Exists for the compiler only and is gone when the code runs. */
export function isTypeOnly(node: TreeNode): boolean {
  if (node["declare"] === true) return true;
  if (node.type === "TSParameterProperty") return false;
  return node.type.startsWith("TS") && !typeWrappers.has(node.type);
}
