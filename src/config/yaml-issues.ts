import { z } from "zod";
import { didYouMean } from "./nearest.ts";

type Issue = z.core.$ZodIssue;

/** One problem of a value: where in it, and what is wrong in words of YAML. */
export interface DescribedIssue {
  keys: PropertyKey[];
  what: string;
}

/** zod's issues for a reader of YAML: unions resolved to the nearest branch, unknown keys with a suggestion. */
export function describeIssues(
  schema: z.ZodType,
  value: unknown,
  issues: readonly Issue[],
): DescribedIssue[] {
  return issues.flatMap((issue) => describe(schema, value, issue));
}

function describe(schema: z.ZodType, root: unknown, issue: Issue): DescribedIssue[] {
  const keys = [...issue.path];
  const found = valueAt(root, keys);
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, keys);
    return issue.keys.map((key) => ({
      keys: [...keys, key],
      what: `unknown key${didYouMean(key, known)}${known.length === 0 ? "" : ` (known: ${known.join(", ")})`}`,
    }));
  }
  if (issue.code === "invalid_union") {
    if (issue.errors.length === 0) {
      return [{ keys, what: choice(found, "options" in issue ? (issue.options as unknown[]) : []) }];
    }
    const branch = nearestBranch(issue.errors);
    if (branch === undefined)
      return [{ keys, what: `expected ${expectedOf(issue.errors)}, found ${nameOf(found)}` }];
    return branch.flatMap((inner) => describe(schema, root, { ...inner, path: [...keys, ...inner.path] }));
  }
  if (issue.code === "invalid_value") return [{ keys, what: choice(found, issue.values) }];
  if (issue.code === "invalid_type") {
    if (found === undefined) return [{ keys, what: `is missing: expected ${typeName(issue.expected)}` }];
    const quotes = issue.expected === "string" && typeof found !== "object" ? " (put it in quotes)" : "";
    return [{ keys, what: `expected ${typeName(issue.expected)}, found ${nameOf(found)}${quotes}` }];
  }
  return [{ keys, what: issue.message }];
}

/** The branch of a union with the fewest problems; undefined when the value has no branch's type. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const fitting = branches.filter((issues) => !issues.some(isWrongType));
  return fitting.reduce<readonly Issue[] | undefined>(
    (best, branch) => (best === undefined || branch.length < best.length ? branch : best),
    undefined,
  );
}

function isWrongType(issue: Issue): boolean {
  return issue.code === "invalid_type" && issue.path.length === 0;
}

function expectedOf(branches: readonly (readonly Issue[])[]): string {
  const names = branches
    .flat()
    .flatMap((issue) => (issue.code === "invalid_type" ? [typeName(issue.expected)] : []));
  return [...new Set(names)].join(" or ");
}

function choice(found: unknown, options: readonly unknown[]): string {
  const names = options.map(String);
  const list = names.map((name) => `\`${name}\``).join(", ");
  if (found === undefined) return `is missing: one of ${list}`;
  return `\`${String(found)}\` is none of ${list}${didYouMean(String(found), names)}`;
}

const typeNames: Record<string, string> = {
  object: "a map",
  record: "a map",
  array: "a list",
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function nameOf(value: unknown): string {
  if (value === null) return "nothing";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "boolean" ? String(value) : typeName(typeof value);
}

function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of keys) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** The keys that a map at `keys` may have, sorted. */
function keysAt(schema: z.core.$ZodType, keys: readonly PropertyKey[]): string[] {
  const [key, ...rest] = keys;
  if (schema instanceof z.ZodUnion) {
    return [...new Set(schema.options.flatMap((option) => keysAt(option, keys)))].sort();
  }
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  ) {
    return keysAt(schema.unwrap(), keys);
  }
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(schema.shape).sort();
  const field = schema.shape[String(key)];
  return field === undefined ? [] : keysAt(field, rest);
}
