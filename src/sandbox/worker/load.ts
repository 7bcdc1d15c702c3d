import { compileFunction } from "node:vm";
import type { LoadedPart } from "../protocol.ts";

/** What authored code exported; every read of it may run authored code. */
export type Exports = Readonly<Record<string, unknown>>;

/** Evaluates modules afresh at each call, from functions that are compiled once per code hash. */
export function createLoader(require: (name: unknown) => unknown): (part: LoadedPart) => Exports {
  const compiled = new Map<string, ReturnType<typeof compileFunction>>();
  return ({ file, codeHash, code }) => {
    if (code !== undefined) {
      // Sloppy code would fail in silence where it writes to something frozen.
      const source = `"use strict";${code}`;
      compiled.set(codeHash, compileFunction(source, ["require", "module", "exports"], { filename: file }));
    }
    const evaluate = compiled.get(codeHash);
    if (evaluate === undefined) throw new Error("its code was never sent");
    const module: { exports: unknown } = { exports: {} };
    evaluate.call(undefined, require, module, module.exports);
    const exported = module.exports;
    if (typeof exported !== "object" || exported === null) throw new Error("exports nothing");
    return exported as Exports;
  };
}
