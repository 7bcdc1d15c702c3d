import type { TreeNode } from "../source-tree.ts";
import { builtinMember } from "./builtins.ts";
import { hole, isPlain, largestText, unknownValue, type Value } from "./values.ts";

export function literal(node: TreeNode): Value {
  const pattern = node["regex"] as { pattern: string; flags: string } | undefined;
  if (pattern !== undefined) return { type: "regex", source: pattern.pattern, flags: pattern.flags };
  if (typeof node["bigint"] === "string") return Number(node["bigint"]);
  return node["value"] as string | number | boolean | null;
}

export function member(owner: Value, key: Value): Value {
  if (!isPlain(key)) return unknownValue;
  const name = String(key);
  if (typeof owner === "string" || Array.isArray(owner) || owner instanceof Uint8Array) {
    if (name === "length") return owner.length;
    return /^\d+$/.test(name) ? owner[Number(name)] : unknownValue;
  }
  if (typeof owner !== "object" || owner === null) return unknownValue;
  switch (owner.type) {
    case "object":
      return owner.entries.has(name) ? owner.entries.get(name) : unknownValue;
    case "builtin":
      return builtinMember(owner.name, name);
    case "regex":
      return name === "source" ? owner.source : unknownValue;
    default:
      return unknownValue;
  }
}

export function textOf(value: Value): string {
  return isPlain(value) ? String(value) : hole;
}

export function sized(text: string): Value {
  return text.length > largestText ? unknownValue : text;
}

export function binary(operator: string, left: Value, right: Value): Value {
  if (operator === "+" && (typeof left === "string" || typeof right === "string")) {
    return sized(textOf(left) + textOf(right));
  }
  if (typeof left !== "number" || typeof right !== "number") return unknownValue;
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "**":
      return left ** right;
    case "^":
      return left ^ right;
    case "&":
      return left & right;
    case "|":
      return left | right;
    case "<<":
      return left << right;
    case ">>":
      return left >> right;
    case ">>>":
      return left >>> right;
    default:
      return unknownValue;
  }
}

export function unary(operator: string, value: Value): Value {
  if (operator === "void") return undefined;
  if (!isPlain(value)) return unknownValue;
  if (operator === "-") return -Number(value);
  if (operator === "+") return Number(value);
  if (operator === "~") return ~Number(value);
  return operator === "!" ? !value : unknownValue;
}

export function logical(operator: string, left: Value, right: () => Value): Value {
  if (left === unknownValue) return unknownValue;
  if (operator === "&&") return left ? right() : left;
  if (operator === "||") return left ? left : right();
  return left ?? right();
}
