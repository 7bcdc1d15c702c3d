/** Modules of Node's that compute and reach nothing; each is handed out as a frozen copy, `node:util` in part. */
export const pureModules = [
  "node:path",
  "node:querystring",
  "node:string_decoder",
  "node:url",
  "node:util",
] as const;

/** Everything that authored code may import. */
export const allowedModules: readonly string[] = [
  "lorimer/tools",
  "lorimer/processors",
  "zod",
  ...pureModules,
];

/**
 * Globals that authored code finds. Left out on purpose: what reaches out (process, fetch, WebAssembly), what runs
 * later and cannot be tracked (Atomics, FinalizationRegistry, AbortSignal, MessageChannel), what keeps state between
 * rollouts (performance).
 */
export const allowedGlobals: readonly string[] = [
  ...[
    "globalThis",
    "global",
    "undefined",
    "NaN",
    "Infinity",
    "Object",
    "Function",
    "Array",
    "Number",
    "Boolean",
  ],
  ...["String", "Symbol", "BigInt", "Date", "Promise", "RegExp", "Proxy", "Reflect", "JSON", "Math", "Intl"],
  ...["Map", "Set", "WeakMap", "WeakSet", "ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Int16Array"],
  ...["Uint8ClampedArray", "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array"],
  ...[
    "BigInt64Array",
    "BigUint64Array",
    "Error",
    "AggregateError",
    "EvalError",
    "RangeError",
    "ReferenceError",
  ],
  ...["SyntaxError", "TypeError", "URIError", "parseFloat", "parseInt", "isNaN", "isFinite", "decodeURI"],
  ...["decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape", "eval", "Buffer", "URL"],
  ...["URLSearchParams", "TextEncoder", "TextDecoder", "structuredClone", "atob", "btoa", "console"],
  ...["setTimeout", "clearTimeout", "queueMicrotask"],
];
