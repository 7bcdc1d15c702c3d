import { children, isTypeOnly, nodeAt, nodesAt, type TreeNode } from "./source-tree.ts";

/** A name that the file itself gives a value. */
export interface Binding {
  name: string;
  /** The identifier that declares it. */
  declared: TreeNode;
  /** Where its value comes from, when one place says so: a declarator, a function. */
  source: TreeNode | undefined;
  /** Assignments other than the declaration. */
  writes: TreeNode[];
  /** Declared inside a function: its value may differ from call to call. */
  local: boolean;
}

export interface Names {
  /** The binding of every identifier that has one. */
  bindings: Map<TreeNode, Binding>;
  /** Identifiers that the file does not bind: they mean a global. */
  globals: TreeNode[];
}

interface Scope {
  parent: Scope | undefined;
  names: Map<string, Binding>;
  local: boolean;
  /** The function body that belongs to these parameters; it owns the `var`s. */
  body: TreeNode | undefined;
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export function isFunction(node: TreeNode): boolean {
  return functionTypes.has(node.type);
}

/**
 * Resolves every identifier as the language does for modules (block scopes, hoisted `var`, parameters apart from the
 * body), counting only what exists at run time: a `declare`d name or an `import type` binds nothing.
 */
export function resolveNames(program: TreeNode): Names {
  const names: Names = { bindings: new Map(), globals: [] };
  const scope = openScope(undefined, false);
  declareStatements(names, scope, nodesAt(program, "body"), true);
  for (const statement of nodesAt(program, "body")) visit(names, statement, scope);
  return names;
}

function openScope(parent: Scope | undefined, local = parent?.local ?? false): Scope {
  return { parent, names: new Map(), local, body: undefined };
}

/** The identifiers that a pattern binds. */
export function patternNames(pattern: TreeNode): TreeNode[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "ObjectPattern":
      return nodesAt(pattern, "properties").flatMap((property) =>
        patternNames(nodeAt(property, property.type === "RestElement" ? "argument" : "value") ?? property),
      );
    case "ArrayPattern":
      return nodesAt(pattern, "elements").flatMap(patternNames);
    case "AssignmentPattern":
      return patternNames(nodeAt(pattern, "left") ?? pattern);
    case "RestElement":
      return patternNames(nodeAt(pattern, "argument") ?? pattern);
    case "TSParameterProperty":
      return patternNames(nodeAt(pattern, "parameter") ?? pattern);
    default:
      return [];
  }
}

function declare(names: Names, scope: Scope, pattern: TreeNode | undefined, source?: TreeNode): void {
  if (pattern === undefined) return;
  for (const declared of patternNames(pattern)) {
    const name = String(declared["name"]);
    const known = scope.names.get(name);
    const binding = known ?? { name, declared, source, writes: [], local: scope.local };
    if (known !== undefined) known.writes.push(declared);
    scope.names.set(name, binding);
    names.bindings.set(declared, binding);
  }
}

function declareStatements(names: Names, scope: Scope, statements: TreeNode[], ownsVar: boolean): void {
  for (const statement of statements) declareStatement(names, scope, statement);
  if (ownsVar) for (const statement of statements) declareVars(names, scope, statement);
}

function declareStatement(names: Names, scope: Scope, statement: TreeNode): void {
  if (isTypeOnly(statement)) return;
  switch (statement.type) {
    case "ImportDeclaration":
      if (statement["importKind"] === "type") return;
      for (const specifier of nodesAt(statement, "specifiers")) {
        if (specifier["importKind"] !== "type") declare(names, scope, nodeAt(specifier, "local"));
      }
      return;
    case "VariableDeclaration":
      if (statement["kind"] === "var") return;
      for (const declarator of nodesAt(statement, "declarations")) {
        declare(names, scope, nodeAt(declarator, "id"), declarator);
      }
      return;
    case "FunctionDeclaration":
    case "ClassDeclaration":
      declare(names, scope, nodeAt(statement, "id"), statement);
      return;
    case "ExportNamedDeclaration":
    case "ExportDefaultDeclaration": {
      const declaration = nodeAt(statement, "declaration");
      if (declaration !== undefined) declareStatement(names, scope, declaration);
    }
  }
}

/** Hoists `var` out of every block, but not out of functions. */
function declareVars(names: Names, scope: Scope, node: TreeNode): void {
  if (isFunction(node) || isTypeOnly(node) || node.type === "StaticBlock") return;
  if (node.type === "VariableDeclaration" && node["kind"] === "var") {
    for (const declarator of nodesAt(node, "declarations")) {
      declare(names, scope, nodeAt(declarator, "id"), declarator);
    }
  }
  for (const child of children(node)) declareVars(names, scope, child);
}

function visit(names: Names, node: TreeNode, scope: Scope): void {
  if (isTypeOnly(node)) return;
  if (node.type === "Identifier") reference(names, node, scope);
  const { nodes, inside } = enter(names, node, scope);
  for (const child of nodes) visit(names, child, inside);
}

/** What of a node is looked at next, and in which scope; opens the scope that the node makes. */
function enter(names: Names, node: TreeNode, scope: Scope): { nodes: TreeNode[]; inside: Scope } {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return enterFunction(names, node, scope);
    case "ClassDeclaration":
    case "ClassExpression":
      return enterDeclaring(names, node, { scope, pattern: nodeAt(node, "id") });
    case "CatchClause":
      return enterDeclaring(names, node, { scope, pattern: nodeAt(node, "param") });
    case "BlockStatement":
    case "StaticBlock": {
      const inside = openScope(scope);
      const ownsVar = node.type === "StaticBlock" || scope.body === node;
      declareStatements(names, inside, nodesAt(node, "body"), ownsVar);
      return { nodes: nodesAt(node, "body"), inside };
    }
    case "SwitchStatement": {
      const inside = openScope(scope);
      const statements = nodesAt(node, "cases").flatMap((part) => nodesAt(part, "consequent"));
      declareStatements(names, inside, statements, false);
      const discriminant = nodeAt(node, "discriminant");
      if (discriminant !== undefined) visit(names, discriminant, scope);
      return { nodes: nodesAt(node, "cases"), inside };
    }
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
      return enterLoop(names, node, scope);
    case "AssignmentExpression":
      noteWrites(node, nodeAt(node, "left"), scope);
      break;
    case "UpdateExpression":
      noteWrites(node, nodeAt(node, "argument"), scope);
  }
  return { nodes: evaluated(node), inside: scope };
}

/** The parts of a node that are values, not names of members, labels or modules. */
function evaluated(node: TreeNode): TreeNode[] {
  const isComputed = node["computed"] === true;
  switch (node.type) {
    case "MemberExpression":
      return present(nodeAt(node, "object"), isComputed ? nodeAt(node, "property") : undefined);
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return present(isComputed ? nodeAt(node, "key") : undefined, nodeAt(node, "value"));
    case "LabeledStatement":
      return present(nodeAt(node, "body"));
    case "ExportSpecifier":
      return present(nodeAt(node, "local"));
    case "ExportNamedDeclaration":
      return nodeAt(node, "source") === undefined ? children(node) : [];
    case "BreakStatement":
    case "ContinueStatement":
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "MetaProperty":
      return [];
    default:
      return children(node);
  }
}

function present(...nodes: (TreeNode | undefined)[]): TreeNode[] {
  return nodes.filter((node) => node !== undefined);
}

function enterDeclaring(
  names: Names,
  node: TreeNode,
  { scope, pattern }: { scope: Scope; pattern: TreeNode | undefined },
): { nodes: TreeNode[]; inside: Scope } {
  const inside = openScope(scope);
  declare(names, inside, pattern);
  return { nodes: children(node), inside };
}

/** Parameters have a scope of their own: a default value cannot see what the body declares. */
function enterFunction(names: Names, node: TreeNode, scope: Scope): { nodes: TreeNode[]; inside: Scope } {
  const inside = { ...openScope(scope, true), body: nodeAt(node, "body") };
  if (node.type === "FunctionExpression") declare(names, inside, nodeAt(node, "id"), node);
  for (const parameter of nodesAt(node, "params")) declare(names, inside, parameter);
  return { nodes: present(...nodesAt(node, "params"), nodeAt(node, "body")), inside };
}

function enterLoop(names: Names, node: TreeNode, scope: Scope): { nodes: TreeNode[]; inside: Scope } {
  const inside = openScope(scope);
  const head = nodeAt(node, node.type === "ForStatement" ? "init" : "left");
  if (head?.type === "VariableDeclaration") declareStatement(names, inside, head);
  else if (node.type !== "ForStatement") noteWrites(node, head, scope);
  return { nodes: children(node), inside };
}

function lookUp(name: string, scope: Scope): Binding | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const binding = at.names.get(name);
    if (binding !== undefined) return binding;
  }
  return undefined;
}

function reference(names: Names, identifier: TreeNode, scope: Scope): void {
  const binding = lookUp(String(identifier["name"]), scope);
  if (binding === undefined) names.globals.push(identifier);
  else names.bindings.set(identifier, binding);
}

function noteWrites(write: TreeNode, target: TreeNode | undefined, scope: Scope): void {
  if (target === undefined) return;
  for (const identifier of patternNames(target)) {
    lookUp(String(identifier["name"]), scope)?.writes.push(write);
  }
}
