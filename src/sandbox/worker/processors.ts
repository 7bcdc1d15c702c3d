import { z } from "zod";
import { type HookName, hookNames } from "../../agent/hooks.ts";
import { Processor } from "../../agent/processors/define.ts";
import { didYouMean } from "../../config/nearest.ts";
import { maxResultBytes } from "../protocol.ts";
import type { Exports } from "./load.ts";

type ProcessorClass = (new (options: unknown) => Processor) & Omit<typeof Processor, "prototype">;
type Method = (this: unknown, event: unknown) => unknown;

const maxValues = 64;
const hookLike = /^on[A-Z]/;

/** What the parent is told of a processor. */
export interface ProcessorDescription {
  order: number;
  group?: string;
  after: string[];
  hooks: HookName[];
}

/** The one processor class of a file, which must be the export that the config names. */
export function findProcessor(exports: Exports, exportName: string): ProcessorClass {
  const names = Object.keys(exports).filter((name) => isProcessor(exports[name]));
  const found = exports[exportName];
  if (!isProcessor(found)) {
    const others = names.length === 0 ? "exports none" : `exports ${names.join(", ")}`;
    throw new Error(`has no class named ${exportName} that extends Processor: it ${others}`);
  }
  if (names.length > 1)
    throw new Error(`exports ${names.length} processors (${names.join(", ")}): one a file`);
  return found;
}

function isProcessor(value: unknown): value is ProcessorClass {
  return typeof value === "function" && value.prototype instanceof Processor;
}

/** Builds it with its options, as its static schema reads them. */
export function buildProcessor(found: ProcessorClass, given: Record<string, unknown>): Processor {
  const schema = found.options;
  if (schema === undefined) {
    const [first] = Object.keys(given);
    if (first !== undefined) throw new Error(`takes no options, but is given ${first}`);
    return new found({});
  }
  if (!(schema instanceof z.ZodObject)) throw new Error("its static options must be a z.object({ … })");
  // An option that the schema does not know would be a knob that turns nothing.
  const strict = schema.def.catchall === undefined ? schema.strict() : schema;
  const none = strict.safeParse({});
  if (!none.success) throw new Error(`every option needs a default: ${optionErrors(none.error)}`);
  const parsed = strict.safeParse(given);
  if (!parsed.success) throw new Error(`wrong options: ${optionErrors(parsed.error)}`);
  return new found(parsed.data);
}

function optionErrors({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");
}

export function describeProcessor(found: ProcessorClass, built: Processor): ProcessorDescription {
  const { order, group, after, handles } = found;
  if (!Number.isFinite(order)) throw new Error("its static order must be a number");
  if (group !== undefined && typeof group !== "string") throw new Error("its static group must be a string");
  if (!Array.isArray(after) || after.some((name) => typeof name !== "string")) {
    throw new Error("its static after must be a list of group names");
  }
  const custom = Object.entries(handles ?? {});
  for (const [event, method] of custom) {
    if (typeof (built as unknown as Record<string, unknown>)[method] !== "function") {
      throw new Error(`its static handles names a method for "${event}" that it does not have: ${method}`);
    }
  }
  const hooks = hooksOf(built, new Set(custom.map(([, method]) => method)));
  return { order, ...(group === undefined ? {} : { group }), after: [...after], hooks };
}

function hooksOf(built: Processor, custom: ReadonlySet<string>): HookName[] {
  const found = new Set<string>();
  for (let at: object = built; at !== Processor.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) if (hookLike.test(name)) found.add(name);
  }
  const names: readonly string[] = hookNames;
  for (const name of found) {
    if (names.includes(name) || custom.has(name)) continue;
    throw new Error(`${name} is no hook${didYouMean(name, names)} The hooks are ${names.join(", ")}`);
  }
  return hookNames.filter((name) => found.has(name));
}

/** Runs one hook; returns a JSON array of what it yielded, each value as it was when it was yielded. */
export async function runHook(processor: Processor, hook: string, event: unknown): Promise<string> {
  const method = (processor as unknown as Record<string, Method>)[hook];
  if (typeof method !== "function") throw new Error("is no method");
  const returned = method.call(processor, event);
  if (!isIterator(returned)) throw new Error(`is no generator: write it as \`async *${hook}(event)\``);
  const values: string[] = [];
  let bytes = 0;
  for (let turn = await returned.next(); turn.done !== true; turn = await returned.next()) {
    const text = JSON.stringify(turn.value) ?? "null";
    bytes += Buffer.byteLength(text);
    if (values.push(text) > maxValues) throw new Error(`yielded more than ${maxValues} values`);
    if (bytes > maxResultBytes) throw new Error(`yielded more than ${maxResultBytes} bytes`);
  }
  return `[${values.join(",")}]`;
}

function isIterator(value: unknown): value is AsyncIterator<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { next?: unknown }).next === "function"
  );
}
