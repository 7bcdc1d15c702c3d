import path from "node:path";
import querystring from "node:querystring";
import { StringDecoder } from "node:string_decoder";
import url from "node:url";
import util from "node:util";
import { z } from "zod";
import { Processor } from "../../agent/processors/define.ts";
import { isTool, tool } from "../../agent/tools/define.ts";
import { allowedModules } from "../allowed.ts";
import { freezeDeep } from "./lock.ts";
import { isKind, primeZod } from "./prime-zod.ts";

// What of zod keeps state for everyone: registries, the locale, sets inside `core`.
const zodShared = new Set([
  ...["core", "util", "locales", "config", "registry", "globalRegistry", "memoizer", "compile", "withParser"],
  ...["setErrorMap", "getErrorMap"],
]);

// `inspect` and `format` stay out: both hand a settable global default to the value they print.
const { isDeepStrictEqual, promisify, stripVTControlCharacters, types } = util;

export interface Modules {
  /** The `require` of authored code: frozen modules, and no others. */
  require(name: unknown): unknown;
  /** Forgets what the rollout's schemas registered; true when this worker's zod may have been changed for good. */
  reset(): boolean;
}

export function createModules(): Modules {
  const primed = primeZod();
  freezeDeep(primed.prototypes);
  const modules = new Map<string, unknown>([
    ["lorimer/tools", { tool, isTool }],
    ["lorimer/processors", { Processor }],
    ["zod", handedZod()],
    ["node:path", { ...path }],
    ["node:querystring", { ...querystring }],
    ["node:string_decoder", { StringDecoder }],
    ["node:url", { ...url }],
    ["node:util", { isDeepStrictEqual, promisify, stripVTControlCharacters, types: { ...types } }],
  ]);
  const require = (name: unknown) => {
    const found = typeof name === "string" ? (modules.get(name) ?? modules.get(`node:${name}`)) : undefined;
    if (found !== undefined) return found;
    throw new Error(`cannot import ${JSON.stringify(name)}: only ${allowedModules.join(", ")}`);
  };
  freezeDeep([require, ...modules.values()]);
  primed.openedSince();
  return {
    require,
    reset() {
      z.globalRegistry.clear();
      return primed.openedSince();
    },
  };
}

/** Zod without what is shared, and without the classes that must stay open; those come with their first schema. */
function handedZod(): Record<string, unknown> {
  const handed: Record<string, unknown> = Object.fromEntries(
    Object.entries(z).filter(([name, value]) => {
      if (!isKind(name)) return !zodShared.has(name);
      return Object.isFrozen((value as { prototype?: unknown }).prototype);
    }),
  );
  Object.defineProperty(handed, "__esModule", { value: true });
  handed["z"] = handed;
  handed["default"] = handed;
  return handed;
}
