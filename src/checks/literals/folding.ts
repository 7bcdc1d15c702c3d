import { type Binding, isFunction, type Names } from "../scopes.ts";
import { isWrapper, nodeAt, nodesAt, type TreeNode } from "../source-tree.ts";
import { callBuiltin, callMethod, listOf } from "./builtins.ts";
import { binary, literal, logical, member, sized, textOf, unary } from "./operators.ts";
import {
  type Environment,
  type FoldedBuiltin,
  type FoldedFunction,
  type FoldedObject,
  isPlain,
  largestList,
  unknownValue,
  type Value,
} from "./values.ts";

const mostSteps = 500_000;
const deepestCall = 60;

/** Thrown when a file would take too long to fold: it is then refused, not believed. */
export class FoldingLimit extends Error {}

/**
 * Works out what expressions give without running them: literals, operators, templates, array and object literals,
 * methods of strings and arrays, decoders, and calls of the file's own functions that only return an expression.
 * Loops, mutation and anything that depends on an input are unknown; in a string they leave a hole.
 */
export class Folder {
  private readonly names: Names;
  private readonly memo = new Map<TreeNode, Value>();
  private steps = 0;
  private depth = 0;

  constructor(names: Names) {
    this.names = names;
  }

  /** The value of an expression outside any call. */
  fold(node: TreeNode): Value {
    if (this.memo.has(node)) return this.memo.get(node);
    this.memo.set(node, unknownValue); // what refers to itself stays unknown
    const value = this.evaluate(node, undefined);
    this.memo.set(node, value);
    return value;
  }

  /** Counts work; throws a FoldingLimit when it was too much. */
  spend(): void {
    this.steps++;
    if (this.steps > mostSteps) throw new FoldingLimit();
  }

  private inner(node: TreeNode | undefined, environment: Environment | undefined): Value {
    if (node === undefined) return undefined;
    return environment === undefined ? this.fold(node) : this.evaluate(node, environment);
  }

  private evaluate(node: TreeNode, environment: Environment | undefined): Value {
    this.spend();
    const inner = (key: string): Value => this.inner(nodeAt(node, key), environment);
    if (isWrapper(node) || node.type === "AwaitExpression")
      return inner(node.type === "AwaitExpression" ? "argument" : "expression");
    if (isFunction(node)) return { type: "function", node, environment };
    switch (node.type) {
      case "Literal":
        return literal(node);
      case "TemplateLiteral":
        return this.template(node, environment, "cooked");
      case "TaggedTemplateExpression":
        return this.tagged(node, environment);
      case "Identifier":
        return this.identifier(node, environment);
      case "BinaryExpression":
        return binary(String(node["operator"]), inner("left"), inner("right"));
      case "UnaryExpression":
        return unary(String(node["operator"]), inner("argument"));
      case "LogicalExpression":
        return logical(String(node["operator"]), inner("left"), () => inner("right"));
      case "ConditionalExpression": {
        const test = inner("test");
        return test === unknownValue ? unknownValue : inner(test ? "consequent" : "alternate");
      }
      case "SequenceExpression":
        return this.inner(nodesAt(node, "expressions").at(-1), environment);
      case "ArrayExpression":
        return this.list(node, environment) ?? unknownValue;
      case "ObjectExpression":
        return this.object(node, environment);
      case "MemberExpression":
        return member(inner("object"), this.property(node, environment));
      case "CallExpression":
      case "NewExpression":
        return this.callExpression(node, environment);
      default:
        return unknownValue;
    }
  }

  private template(node: TreeNode, environment: Environment | undefined, form: "cooked" | "raw"): Value {
    const parts = nodesAt(node, "quasis").map(
      (quasi) => (quasi["value"] as Record<string, string | null>)[form] ?? "",
    );
    const filled = nodesAt(node, "expressions").map((expression) =>
      textOf(this.inner(expression, environment)),
    );
    return sized(parts.map((part, index) => part + (filled[index] ?? "")).join(""));
  }

  private tagged(node: TreeNode, environment: Environment | undefined): Value {
    const tag = this.inner(nodeAt(node, "tag"), environment);
    const quasi = nodeAt(node, "quasi");
    const isRaw = isBuiltin(tag, "String.raw");
    return isRaw && quasi !== undefined ? this.template(quasi, environment, "raw") : unknownValue;
  }

  private identifier(node: TreeNode, environment: Environment | undefined): Value {
    const binding = this.names.bindings.get(node);
    const name = String(node["name"]);
    if (binding === undefined) {
      const constants: Record<string, Value> = {
        undefined: undefined,
        NaN: Number.NaN,
        Infinity: Number.POSITIVE_INFINITY,
      };
      return Object.hasOwn(constants, name) ? constants[name] : { type: "builtin", name };
    }
    for (let at = environment; at !== undefined; at = at.parent) {
      if (at.values.has(binding)) return at.values.get(binding);
    }
    return this.bound(binding, binding.local ? environment : undefined);
  }

  private bound(binding: Binding, environment: Environment | undefined): Value {
    const { source } = binding;
    if (source === undefined || binding.writes.length > 0) return unknownValue;
    if (isFunction(source)) return { type: "function", node: source, environment };
    const pattern = nodeAt(source, "id");
    const initial = nodeAt(source, "init");
    if (source.type !== "VariableDeclarator" || pattern === undefined || initial === undefined)
      return unknownValue;
    if (this.depth > deepestCall) return unknownValue;
    return this.deeper(() => {
      let value: Value = unknownValue;
      this.match(pattern, this.inner(initial, environment), environment, (declared, part) => {
        if (declared === binding.declared) value = part;
      });
      return value;
    });
  }

  /** Takes a value apart as a pattern does. */
  private match(
    pattern: TreeNode,
    value: Value,
    environment: Environment | undefined,
    assign: (identifier: TreeNode, value: Value) => void,
  ): void {
    const inside = (key: string, part: Value): void => {
      const node = nodeAt(pattern, key);
      if (node !== undefined) this.match(node, part, environment, assign);
    };
    switch (pattern.type) {
      case "Identifier":
        assign(pattern, value);
        break;
      case "AssignmentPattern":
        inside("left", value === undefined ? this.inner(nodeAt(pattern, "right"), environment) : value);
        break;
      case "ArrayPattern": {
        const items = listOf(value);
        for (const [index, element] of (pattern["elements"] as (TreeNode | null)[]).entries()) {
          if (element === null) continue;
          const rest = element.type === "RestElement" ? nodeAt(element, "argument") : undefined;
          const part = rest === undefined ? items?.[index] : items?.slice(index);
          this.match(rest ?? element, items === undefined ? unknownValue : part, environment, assign);
        }
        break;
      }
      case "ObjectPattern":
        for (const property of nodesAt(pattern, "properties")) {
          const target = nodeAt(property, "value");
          if (target === undefined) continue;
          this.match(target, member(value, this.property(property, environment, "key")), environment, assign);
        }
    }
  }

  private property(node: TreeNode, environment: Environment | undefined, key = "property"): Value {
    const name = nodeAt(node, key);
    if (node["computed"] === true || name?.type === "Literal") return this.inner(name, environment);
    return String(name?.["name"]);
  }

  private list(node: TreeNode, environment: Environment | undefined, key = "elements"): Value[] | undefined {
    const items: Value[] = [];
    for (const element of node[key] as (TreeNode | null)[]) {
      if (element?.type !== "SpreadElement") {
        items.push(element === null ? undefined : this.inner(element, environment));
        continue;
      }
      const spread = listOf(this.inner(nodeAt(element, "argument"), environment));
      if (spread === undefined || items.length + spread.length > largestList) return undefined;
      items.push(...spread);
    }
    return items;
  }

  private object(node: TreeNode, environment: Environment | undefined): Value {
    const entries = new Map<string, Value>();
    for (const property of nodesAt(node, "properties")) {
      if (property.type === "SpreadElement") {
        const spread = this.inner(nodeAt(property, "argument"), environment);
        if (!isObject(spread)) return unknownValue;
        for (const [key, value] of spread.entries) entries.set(key, value);
        continue;
      }
      const key = this.property(property, environment, "key");
      if (isPlain(key)) entries.set(String(key), this.inner(nodeAt(property, "value"), environment));
    }
    return { type: "object", entries };
  }

  private callExpression(node: TreeNode, environment: Environment | undefined): Value {
    const inputs = this.list(node, environment, "arguments");
    let callee = nodeAt(node, "callee");
    while (callee !== undefined && isWrapper(callee)) callee = nodeAt(callee, "expression");
    if (callee === undefined || inputs === undefined) return unknownValue;
    const call = (target: Value, values: Value[]): Value => this.call(target, values);
    if (callee.type === "MemberExpression" && node.type === "CallExpression") {
      const receiver = this.inner(nodeAt(callee, "object"), environment);
      const method = this.property(callee, environment);
      const target = member(receiver, method);
      if (isPlain(method) && !isCallable(target)) {
        return attempt(() => callMethod(receiver, String(method), inputs, call));
      }
      return this.call(target, inputs);
    }
    return this.call(this.inner(callee, environment), inputs);
  }

  private call(callee: Value, inputs: Value[]): Value {
    this.spend();
    if (!isCallable(callee) || this.depth > deepestCall) return unknownValue;
    const call = (target: Value, values: Value[]): Value => this.call(target, values);
    if (callee.type === "builtin") return attempt(() => callBuiltin(callee.name, inputs, call));
    const result = returned(callee.node);
    if (result === undefined) return unknownValue;
    const environment: Environment = { parent: callee.environment, values: new Map() };
    for (const [index, parameter] of nodesAt(callee.node, "params").entries()) {
      const rest = parameter.type === "RestElement" ? nodeAt(parameter, "argument") : undefined;
      const value = rest === undefined ? inputs[index] : inputs.slice(index);
      this.match(rest ?? parameter, value, environment, (identifier, part) => {
        const binding = this.names.bindings.get(identifier);
        if (binding !== undefined)
          environment.values.set(binding, binding.writes.length > 0 ? unknownValue : part);
      });
    }
    return this.deeper(() => this.evaluate(result, environment));
  }

  private deeper(step: () => Value): Value {
    this.depth++;
    try {
      return step();
    } finally {
      this.depth--;
    }
  }
}

/** The expression that a function returns, if all else in it is declarations. */
function returned(node: TreeNode): TreeNode | undefined {
  const body = nodeAt(node, "body");
  if (node["generator"] === true || body?.type !== "BlockStatement")
    return body?.type === "BlockStatement" ? undefined : body;
  const steps = nodesAt(body, "body").filter(
    ({ type }) => type !== "VariableDeclaration" && type !== "FunctionDeclaration",
  );
  const last = steps[0];
  return steps.length === 1 && last?.type === "ReturnStatement" ? nodeAt(last, "argument") : undefined;
}

function isBuiltin(value: Value, name: string): boolean {
  return typeof value === "object" && value !== null && "name" in value && value.name === name;
}

function isObject(value: Value): value is FoldedObject {
  return typeof value === "object" && value !== null && "type" in value && value.type === "object";
}

function isCallable(value: Value): value is FoldedFunction | FoldedBuiltin {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  return value.type === "function" || value.type === "builtin";
}

/** A native call that throws (bad base64, a wrong argument) tells nothing. */
function attempt(native: () => Value): Value {
  try {
    return native();
  } catch (error) {
    if (error instanceof FoldingLimit) throw error;
    return unknownValue;
  }
}
