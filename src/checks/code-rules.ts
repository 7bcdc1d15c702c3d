import { allowedGlobals, allowedModules } from "../sandbox/allowed.ts";
import type { Finding } from "./check.ts";
import { Folder, FoldingLimit } from "./literals/folding.ts";
import { type Names, resolveNames } from "./scopes.ts";
import {
  isCodeFile,
  isTypeOnly,
  nodeAt,
  parseSource,
  type SourceTree,
  type TreeNode,
  walk,
} from "./source-tree.ts";

/** In the fence, but not for authored code: a way round the list, or output that nobody reads. */
const refusedGlobals = new Set(["globalThis", "global", "eval", "Function", "Proxy", "Reflect", "console"]);
const knownGlobals = new Set([...allowedGlobals.filter((name) => !refusedGlobals.has(name)), "arguments"]);

/** Types may come from here as well; nothing of it is left when the code runs. */
const typeModules = ["lorimer"];

/** Every form of statement and expression that authored code may use; TypeScript's types are judged apart. */
const allowedSyntax = new Set(
  `ArrayExpression ArrayPattern ArrowFunctionExpression AssignmentExpression AssignmentPattern AwaitExpression
  BinaryExpression BlockStatement BreakStatement CallExpression CatchClause ChainExpression ClassBody ClassDeclaration
  ClassExpression ConditionalExpression ContinueStatement DoWhileStatement EmptyStatement ExportDefaultDeclaration
  ExportNamedDeclaration ExportSpecifier ExpressionStatement ForInStatement ForOfStatement ForStatement
  FunctionDeclaration FunctionExpression Identifier IfStatement ImportDeclaration ImportDefaultSpecifier
  ImportNamespaceSpecifier ImportSpecifier LabeledStatement Literal LogicalExpression MemberExpression MethodDefinition
  NewExpression ObjectExpression ObjectPattern ParenthesizedExpression PrivateIdentifier Program Property
  PropertyDefinition RestElement ReturnStatement SequenceExpression SpreadElement StaticBlock Super SwitchCase
  SwitchStatement TaggedTemplateExpression TemplateElement TemplateLiteral ThisExpression ThrowStatement TryStatement
  UnaryExpression UpdateExpression VariableDeclaration VariableDeclarator WhileStatement YieldExpression`.split(
    /\s+/,
  ),
);

/** TypeScript that becomes code, declares globals, or pulls another file's types into a message. */
const refusedTypeSyntax = new Set(
  `TSEnumDeclaration TSEnumBody TSEnumMember TSModuleDeclaration TSModuleBlock TSImportEqualsDeclaration
  TSExternalModuleReference TSExportAssignment TSNamespaceExportDeclaration TSParameterProperty TSImportType`.split(
    /\s+/,
  ),
);

const syntaxNames: Record<string, string> = {
  ImportExpression: "import()",
  MetaProperty: "import.meta",
  WithStatement: "with",
  DebuggerStatement: "debugger",
  Decorator: "a decorator",
  ExportAllDeclaration: "export *",
  TSEnumDeclaration: "enum",
  TSModuleDeclaration: "namespace or declare global",
  TSImportEqualsDeclaration: "import … = require()",
  TSParameterProperty: "a parameter property",
  TSImportType: "import() as a type",
};

/** Members that lead from any value to the compiler or to what all code shares. */
const refusedMembers = new Set([
  "constructor",
  "__proto__",
  "__defineGetter__",
  "__defineSetter__",
  "__lookupGetter__",
  "__lookupSetter__",
  "prepareStackTrace",
  "getBuiltinModule",
]);

const files = "Read files by context.resource or context.workspace.";
const globalHints: Record<string, string> = {
  process: "Authored code has no process, no environment and no clock but Date.",
  require: "Import at the top of the file, from the allowed modules.",
  module: "Use export.",
  exports: "Use export.",
  __dirname: files,
  __filename: files,
  fetch: "Authored code has no network.",
  console: "Return what the model should see; processors can yield a trigger event.",
  eval: "Write the code out.",
  Function: "Write the code out.",
  setInterval: "Nothing may outlive the call; await what you start.",
};

export interface CodeRules {
  /** The recipe's own `packages`: modules that may be imported besides lorimer's, zod and Node's pure ones. */
  packages?: readonly string[];
}

/**
 * Holds authored code to an allow-list, file by file: imports of `lorimer/tools`, `lorimer/processors`, `zod`, Node's
 * pure modules and the recipe's packages; globals that only compute; no way to the compiler (`eval`, `.constructor`),
 * to other modules (`require`, `import()`, `import.meta`) or to other files' types (`/// <reference`, `import("x")`).
 * The fence holds all of this as well; here it is said before anything runs, with file and line.
 * `sources` may hold any files; only TypeScript and JavaScript is looked at.
 */
export function checkCodeRules(
  sources: ReadonlyMap<string, string>,
  { packages = [] }: CodeRules = {},
): Finding[] {
  return [...sources.keys()]
    .filter(isCodeFile)
    .sort()
    .flatMap((file) => checkSource(file, sources.get(file) ?? "", [...allowedModules, ...packages]));
}

function checkSource(file: string, source: string, modules: readonly string[]): Finding[] {
  const tree = parseSource(file, source);
  const [error] = tree.errors;
  if (error !== undefined) return [{ kind: "syntax", message: `it cannot be parsed: ${error}`, file }];
  try {
    const names = resolveNames(tree.program);
    return [
      ...references(tree),
      ...[...walk(tree.program)].flatMap(({ node, parent }) => [
        ...syntax(node, parent, tree),
        ...imports(node, modules, tree),
      ]),
      ...globals(names, tree),
      ...members(names, tree),
    ];
  } catch (thrown) {
    const limited =
      thrown instanceof FoldingLimit || (thrown instanceof RangeError && /call stack/i.test(thrown.message));
    if (!limited) throw thrown;
    return [
      { kind: "too-complex", message: "its expressions are too large or too deeply nested to check", file },
    ];
  }
}

function at(tree: SourceTree, node: { start: number }): { file: string; line: number } {
  return { file: tree.file, line: tree.lineAt(node.start) };
}

function references(tree: SourceTree): Finding[] {
  return tree.comments
    .filter(({ text }) => /^\/\s*<\s*(?:reference|amd)/i.test(text))
    .map((comment) => ({
      kind: "syntax",
      message: "/// <reference …> is not allowed",
      ...at(tree, comment),
    }));
}

function syntax(node: TreeNode, parent: TreeNode | undefined, tree: SourceTree): Finding[] {
  const allowed = node.type.startsWith("TS")
    ? !refusedTypeSyntax.has(node.type)
    : allowedSyntax.has(node.type);
  if (allowed || node.type === "ExportAllDeclaration") return [];
  if (parent !== undefined && refusedTypeSyntax.has(parent.type)) return []; // said already, of the whole
  const name = syntaxNames[node.type] ?? node.type;
  return [{ kind: "syntax", message: `${name} is not allowed`, ...at(tree, node) }];
}

function imports(node: TreeNode, modules: readonly string[], tree: SourceTree): Finding[] {
  if (!/^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) return [];
  const source = nodeAt(node, "source");
  if (source === undefined) return [];
  const name = String(source["value"]);
  const forTypes = node["importKind"] === "type" || node["exportKind"] === "type";
  if (modules.includes(name) || (forTypes && typeModules.includes(name))) return [];
  return [
    {
      kind: "import",
      message: `${JSON.stringify(name)} may not be imported`,
      ...at(tree, node),
      hint: `Allowed are ${modules.join(", ")}. ${files}`,
    },
  ];
}

function globals(names: Names, tree: SourceTree): Finding[] {
  const unknown = names.globals.filter((identifier) => !knownGlobals.has(String(identifier["name"])));
  const first = new Map(unknown.toReversed().map((identifier) => [String(identifier["name"]), identifier]));
  return [...first].reverse().map(([name, identifier]) => ({
    kind: "global",
    message: `${name} is neither declared in this file nor an allowed global`,
    ...at(tree, identifier),
    hint: globalHints[name] ?? "Declare it, import it, or do without.",
  }));
}

/** Members that are refused: `x.constructor`, `x["constr" + "uctor"]`, `{ constructor: c } = x`, a constant of that name. */
function members(names: Names, tree: SourceTree): Finding[] {
  const folder = new Folder(names);
  const found: Finding[] = [];
  for (const { node, parent } of walk(tree.program)) {
    if (isTypeOnly(node)) continue;
    const name = memberName(node, parent, folder);
    if (name === undefined) continue;
    if (refusedMembers.has(name))
      found.push({ kind: "member", message: `${name} may not be used`, ...at(tree, node) });
    if (name === "callee" && nodeAt(node, "object")?.["name"] === "arguments") {
      found.push({ kind: "member", message: "arguments.callee may not be used", ...at(tree, node) });
    }
  }
  return found.filter(({ message, line }, index) => {
    return found.findIndex((other) => other.message === message && other.line === line) === index;
  });
}

function memberName(node: TreeNode, parent: TreeNode | undefined, folder: Folder): string | undefined {
  switch (node.type) {
    case "MemberExpression":
      return keyName(node, "property", folder);
    case "Property":
      return parent?.type === "ObjectPattern" ? keyName(node, "key", folder) : undefined;
    case "Literal":
    case "BinaryExpression":
    case "TemplateLiteral":
    case "CallExpression": {
      const value = folder.fold(node);
      return typeof value === "string" ? value : undefined;
    }
    default:
      return undefined;
  }
}

function keyName(node: TreeNode, key: string, folder: Folder): string | undefined {
  const name = nodeAt(node, key);
  if (name === undefined || name.type === "PrivateIdentifier") return undefined;
  if (node["computed"] !== true) return String(name["name"] ?? name["value"]);
  const value = folder.fold(name);
  return typeof value === "string" ? value : undefined;
}
