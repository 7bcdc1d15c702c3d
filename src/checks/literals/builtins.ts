import {
  type Call,
  fromJson,
  hole,
  isPlain,
  largestList,
  largestText,
  unknownValue,
  type Value,
} from "./values.ts";

const textMethods = new Set(
  `at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf normalize padEnd padStart repeat
  replace replaceAll slice split startsWith substr substring toLowerCase toString toUpperCase trim trimEnd trimStart
  valueOf`.split(/\s+/),
);
const listMethods = new Set(
  `at concat filter find flat flatMap includes indexOf join map reduce reduceRight reverse slice sort toReversed
  toSorted toString with`.split(/\s+/),
);
const numberMethods = new Set(["toFixed", "toPrecision", "toString", "valueOf"]);
const encodings = new Set([
  "utf8",
  "utf-8",
  "ascii",
  "latin1",
  "binary",
  "base64",
  "base64url",
  "hex",
  "utf16le",
  "ucs2",
]);
const plainFunctions: Record<string, (...inputs: never[]) => Value> = {
  String,
  Number,
  parseInt,
  parseFloat,
  "Number.parseInt": Number.parseInt,
  "Number.parseFloat": Number.parseFloat,
  atob,
  btoa,
  decodeURI,
  decodeURIComponent,
  encodeURI,
  encodeURIComponent,
  "String.fromCharCode": String.fromCharCode,
  "String.fromCodePoint": String.fromCodePoint,
  "JSON.stringify": (value: string) => JSON.stringify(value),
  "JSON.parse": (text: string) => fromJson(JSON.parse(text)),
};

/** A regular expression of the candidate's is run only when it cannot backtrack: no repeats, groups or choices. */
const linearPattern = /^(?:\\[dDsSwWbnrt.\-/\\[\](){}*+?^$|]|[^\\*+?{}()|])*$/;

/** What the name of a global or of one of its members is worth. */
export function builtinMember(name: string, member: string): Value {
  const constant: unknown = name === "Math" ? Reflect.get(Math, member) : unknownValue;
  return typeof constant === "number" ? constant : { type: "builtin", name: `${name}.${member}` };
}

/** Calls a function of the language; what is not listed, and what throws, is unknown. */
export function callBuiltin(name: string, inputs: Value[], call: Call): Value {
  const [first, second] = inputs;
  const plain = plainFunctions[name];
  if (plain !== undefined)
    return inputs.every(isPlain) ? Reflect.apply(plain, undefined, inputs) : unknownValue;
  if (name.startsWith("Math.") && name !== "Math.random") return callMath(name.slice(5), inputs);
  switch (name) {
    case "Array.of":
      return inputs;
    case "Array.from": {
      const items = listOf(first);
      return items === undefined || second === undefined
        ? (items ?? unknownValue)
        : callList(items, "map", [second], call);
    }
    case "Uint8Array":
    case "Uint8Array.from":
      return bytesOf(first) ?? unknownValue;
    case "Buffer.from":
      return typeof first === "string" ? encoded(first, second) : (bytesOf(first) ?? unknownValue);
    case "TextDecoder":
      return { type: "builtin", name: "decoder" };
    case "decoder.decode":
      return first instanceof Uint8Array ? Buffer.from(first).toString("utf8") : unknownValue;
    case "RegExp":
      return typeof first === "string"
        ? { type: "regex", source: first, flags: typeof second === "string" ? second : "" }
        : (first ?? unknownValue);
    case "Object.freeze":
      return first;
    case "Object.keys":
    case "Object.values":
    case "Object.entries":
      return entriesOf(first, name);
    case "Object.fromEntries":
      return fromEntries(first);
    default:
      return unknownValue;
  }
}

function callMath(member: string, inputs: Value[]): Value {
  const operation: unknown = Reflect.get(Math, member);
  if (typeof operation !== "function" || !inputs.every((input) => typeof input === "number"))
    return unknownValue;
  return Reflect.apply(operation, Math, inputs) as number;
}

function encoded(text: string, encoding: Value): Value {
  if (encoding === undefined) return Buffer.from(text, "utf8");
  return typeof encoding === "string" && encodings.has(encoding)
    ? Buffer.from(text, encoding as BufferEncoding)
    : unknownValue;
}

function bytesOf(value: Value): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  const items = listOf(value);
  return items?.every((item) => typeof item === "number") ? Uint8Array.from(items) : undefined;
}

/** What iterating over a value gives. */
export function listOf(value: Value): Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (value instanceof Uint8Array) return [...value];
  if (typeof value !== "object" || value === null || value.type !== "object") return undefined;
  const length = value.entries.get("length");
  return typeof length === "number" && length >= 0 && length <= largestList
    ? Array.from({ length }, (_, index) => value.entries.get(String(index)))
    : undefined;
}

function entriesOf(value: Value, name: string): Value {
  if (
    typeof value !== "object" ||
    value === null ||
    !("entries" in value) ||
    !(value.entries instanceof Map)
  ) {
    return unknownValue;
  }
  const entries = [...value.entries];
  if (name === "Object.keys") return entries.map(([key]) => key);
  return name === "Object.values"
    ? entries.map(([, item]) => item)
    : entries.map(([key, item]) => [key, item]);
}

function fromEntries(value: Value): Value {
  const items = listOf(value);
  if (items === undefined) return unknownValue;
  const entries = new Map<string, Value>();
  for (const item of items) {
    const pair = listOf(item);
    if (!isPlain(pair?.[0])) return unknownValue;
    entries.set(String(pair?.[0]), pair?.[1]);
  }
  return { type: "object", entries };
}

/** Calls a method of a folded value. */
export function callMethod(receiver: Value, method: string, inputs: Value[], call: Call): Value {
  if (typeof receiver === "string") return callText(receiver, method, inputs, call);
  if (typeof receiver === "number") {
    return numberMethods.has(method) ? apply(Number.prototype, receiver, method, inputs) : unknownValue;
  }
  if (receiver instanceof Uint8Array) return callBytes(receiver, method, inputs, call);
  if (Array.isArray(receiver)) return callList(receiver, method, inputs, call);
  return unknownValue;
}

function callBytes(receiver: Uint8Array, method: string, inputs: Value[], call: Call): Value {
  if (method !== "toString") return callList([...receiver], method, inputs, call);
  const [encoding = "utf8"] = inputs;
  return typeof encoding === "string" && encodings.has(encoding)
    ? Buffer.from(receiver).toString(encoding as BufferEncoding)
    : unknownValue;
}

function callText(receiver: string, method: string, inputs: Value[], call: Call): Value {
  if (!textMethods.has(method)) return unknownValue;
  if (method === "concat")
    return receiver + inputs.map((input) => (isPlain(input) ? String(input) : hole)).join("");
  const natives: unknown[] = [];
  let size = receiver.length;
  for (const input of inputs) {
    const native = nativeInput(input, call);
    if (native === unknownValue) return unknownValue;
    if (typeof native === "number" && /^(?:repeat|pad)/.test(method)) size *= Math.max(1, Math.abs(native));
    if (typeof native === "string" && method === "replaceAll") size *= native.length + 1;
    natives.push(native);
  }
  return size > largestText ? unknownValue : apply(String.prototype, receiver, method, natives);
}

/** A folded value as the native methods of strings take it. */
function nativeInput(input: Value, call: Call): unknown {
  if (isPlain(input)) return input;
  if (typeof input !== "object" || input === null || !("type" in input)) return unknownValue;
  if (input.type === "regex")
    return linearPattern.test(input.source) ? new RegExp(input.source, input.flags) : unknownValue;
  if (input.type === "object") return unknownValue;
  return (...inputs: string[]) => {
    const value = call(input, inputs);
    if (!isPlain(value)) throw new TypeError("unknown");
    return String(value);
  };
}

function callList(receiver: Value[], method: string, inputs: Value[], call: Call): Value {
  if (!listMethods.has(method) || inputs.includes(unknownValue)) return unknownValue;
  if (method === "join" || method === "toString") return join(receiver, method === "join" ? inputs[0] : ",");
  if (method === "flat") return within(receiver.flat() as Value[]);
  const natives = inputs.map((input) =>
    typeof input === "object" &&
    input !== null &&
    "type" in input &&
    (input.type === "function" || input.type === "builtin")
      ? (...values: unknown[]) =>
          known(
            call(input, (method.startsWith("reduce") ? values.slice(0, 3) : values.slice(0, 2)) as Value[]),
          )
      : input,
  );
  return apply(Array.prototype, [...receiver], method, natives);
}

/** Inside a native method an unknown answer would be taken for an ordinary value. */
function known(value: Value): Value {
  if (value === unknownValue) throw new TypeError("unknown");
  return value;
}

function join(items: Value[], separator: Value): Value {
  if (separator !== undefined && typeof separator !== "string") return unknownValue;
  const texts = items.map((item) => (isPlain(item) ? String(item ?? "") : hole));
  const size = texts.reduce((sum, text) => sum + text.length + (separator?.length ?? 1), 0);
  return size > largestText ? unknownValue : texts.join(separator ?? ",");
}

function within(items: Value[]): Value {
  return items.length > largestList ? unknownValue : items;
}

function apply(prototype: object, receiver: unknown, method: string, inputs: unknown[]): Value {
  const native: unknown = Reflect.get(prototype, method);
  if (typeof native !== "function") return unknownValue;
  const value = Reflect.apply(native, receiver, inputs) as Value;
  if (typeof value === "string" && value.length > largestText) return unknownValue;
  return Array.isArray(value) ? within(value) : value;
}
