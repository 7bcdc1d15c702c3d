import type { Binding } from "../scopes.ts";
import type { TreeNode } from "../source-tree.ts";

/** What cannot be told without running the code. */
export const unknownValue: unique symbol = Symbol("unknown");

/** Stands in a folded string for a part that cannot be told. */
export const hole = "\uE000";

export interface FoldedObject {
  type: "object";
  entries: Map<string, Value>;
}

export interface FoldedPattern {
  type: "regex";
  source: string;
  flags: string;
}

/** A function of the file; `environment` holds the parameters of the calls round it. */
export interface FoldedFunction {
  type: "function";
  node: TreeNode;
  environment: Environment | undefined;
}

/** A function of the language, e.g. `String.fromCharCode`; looked up in `builtins.ts`. */
export interface FoldedBuiltin {
  type: "builtin";
  name: string;
}

export interface Environment {
  parent: Environment | undefined;
  values: Map<Binding, Value>;
}

/** What an expression is known to give. */
export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | typeof unknownValue
  | Value[]
  | Uint8Array
  | FoldedObject
  | FoldedPattern
  | FoldedFunction
  | FoldedBuiltin;

/** Calls a folded function. */
export type Call = (callee: Value, inputs: Value[]) => Value;

/** Nothing larger is folded: the pieces are looked at instead. */
export const largestText = 100_000;
export const largestList = 10_000;

export function isPlain(value: Value): value is string | number | boolean | null | undefined {
  return value === null || (typeof value !== "object" && typeof value !== "symbol");
}

/** A folded value of what JSON gives. */
export function fromJson(json: unknown): Value {
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json === "object" && json !== null) {
    return {
      type: "object",
      entries: new Map(Object.entries(json).map(([key, value]) => [key, fromJson(value)])),
    };
  }
  return json as string | number | boolean | null;
}
