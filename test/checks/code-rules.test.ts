// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the sources under test hold templates
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkCodeRules } from "../../src/checks/code-rules.ts";

function found(source: string, packages?: string[]): string[] {
  const findings = checkCodeRules(
    new Map([["tools/a.ts", source]]),
    packages === undefined ? {} : { packages },
  );
  return findings.map(({ kind, line }) => `${kind}:${line ?? 0}`);
}

describe("what authored code may do", () => {
  test.each([
    [
      "import the allowed modules",
      'import { tool } from "lorimer/tools";\nimport { z } from "zod";\nimport { inspect } from "node:util";\nexport const a = tool(z, inspect);',
    ],
    [
      "import types",
      'import type { Message } from "lorimer";\nimport { type B, z } from "zod";\nexport const a = (m: Message, b: B) => z;',
    ],
    [
      "use what only computes",
      "export const a = [new Map(), Math.max(1), JSON.parse('1'), new Date(0), Buffer.from('a'), structuredClone({}), Number.NaN, undefined];",
    ],
    ["wait", "export const a = () => new Promise((done) => setTimeout(done, 1));"],
    [
      "name its own things like globals",
      "export function a(process: { env: string }, fetch: () => void) { const { module } = { module: 1 }; fetch(); return [process.env, module]; }",
    ],
    ["hoist", "export function a() { return b() + c; function b() { return 1; } var c; }"],
    [
      "use members that are called like globals",
      "export const a = (x: { process: number; require(): void }) => { x.require(); return { process: x.process, fetch: 1 }; };",
    ],
    [
      "write classes",
      "export class A<T> extends Array<T> { #b = 1; static c = 2; constructor() { super(); } get d() { return this.#b; } static { A.c = 3; } }",
    ],
    [
      "loop, label and catch",
      "export function a(list: number[]) { outer: for (const x of list) { for (let i = 0; i < x; i++) { if (i > 2) break outer; } } try { throw new Error('x'); } catch (error) { return error; } }",
    ],
    [
      "destructure with defaults",
      "export const a = ({ b = 1, ...rest }: { b?: number }, [c, d = c]: number[], ...e: number[]) => [b, rest, d, e];",
    ],
    [
      "use types freely",
      "type A = typeof b; interface B { x: process } const b = 1; export const a = (x: unknown) => (x as A satisfies number)!;\ndeclare namespace process2 {}".replace(
        /\ndeclare.*/,
        "",
      ),
    ],
    ["use arguments", "export function a() { return arguments.length; }"],
    ["export what it has", "const a = 1; class B {} export { a as c, B };"],
    [
      "switch",
      "export function a(x: string) { switch (x) { case 'p': { const y = 1; return y; } default: const z = 2; return z; } }",
    ],
  ])("%s", (_name, source) => {
    expect(found(source)).toEqual([]);
  });

  test("import the recipe's packages", () => {
    const source = 'import dayjs from "dayjs";\nexport const a = dayjs;';
    expect(found(source)).toEqual(["import:1"]);
    expect(found(source, ["dayjs"])).toEqual([]);
  });

  test("files that are no code are not looked at", () => {
    expect(checkCodeRules(new Map([["prompts/system.md", "process.exit()"]]))).toEqual([]);
  });
});

describe("what it may not", () => {
  test.each([
    ["import files", 'import { readFileSync } from "node:fs";\nreadFileSync;', ["import:1"]],
    ["import without the prefix", 'import util from "util";\nutil;', ["import:1"]],
    ["import a neighbour", '\nimport { x } from "./x.ts";\nx;', ["import:2"]],
    ["import a neighbour's types", 'import type { X } from "../../secret.json";', ["import:1"]],
    [
      "re-export",
      'export { readFileSync } from "node:fs";\nexport * from "node:fs";',
      ["import:1", "import:2"],
    ],
    ["import dynamically", 'export const a = import("zod");', ["syntax:1"]],
    ["import a type dynamically", 'export type A = typeof import("../x.json");', ["syntax:1"]],
    ["import by require", 'import fs = require("fs");', ["syntax:1"]],
    ["require", 'export const a = require("fs");', ["global:1"]],
    ["see where it is", "export const a = import.meta.url;", ["syntax:1"]],
    ["reference a file", '/// <reference path="../../tasks.ts" />\nexport {};', ["syntax:1"]],
    [
      "compile",
      'export const a = eval("1");\nexport const b = new Function("return 1");',
      ["global:1", "global:2"],
    ],
    ["compile by an alias", 'const e = [eval][0];\nexport const a = (0, e)("1");', ["global:1"]],
    ["reach the compiler", 'export const a = (() => 1).constructor("return 1");', ["member:1"]],
    ["reach it by a computed name", 'export const a = (x: any) => x["constr" + "uctor"];', ["member:1"]],
    [
      "reach it by a const",
      'const k = ["con", "structor"].join("");\nexport const a = (x: any) => x[k];',
      ["member:1", "member:2"],
    ],
    ["reach it by destructuring", "export const { constructor: a } = () => 1;", ["member:1"]],
    [
      "reach it by a descriptor",
      'export const a = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => 1), "constructor");',
      ["member:1"],
    ],
    ["reach prototypes", "export const a = ({} as any).__proto__;", ["member:1"]],
    ["use the process", "export const a = 1;\nexport const b = process.env.KEY;", ["global:2"]],
    [
      "use the global object",
      "export const a = globalThis.process;\nexport const b = global;",
      ["global:1", "global:2"],
    ],
    [
      "use the network",
      'export const a = fetch("http://x");\nexport const b = new XMLHttpRequest();',
      ["global:1", "global:2"],
    ],
    [
      "use WebAssembly, module or exports",
      "export const a = WebAssembly;\nmodule.exports = exports;",
      ["global:1", "global:2", "global:2"],
    ],
    ["print", 'console.log("x");', ["global:1"]],
    ["run on", "setInterval(() => 1, 5);", ["global:1"]],
    [
      "proxy or reflect",
      "export const a = new Proxy({}, {});\nexport const b = Reflect;",
      ["global:1", "global:2"],
    ],
    ["see its caller", "export function a() { return arguments.callee; }", ["member:1"]],
    ["declare globals", "declare global { var x: number }", ["syntax:1"]],
    [
      "have what TypeScript cannot erase",
      "enum A { B }\nnamespace N { export const y = 1; }\nexport class C { constructor(private z: number) {} }",
      ["syntax:1", "syntax:2", "syntax:3"],
    ],
    ["decorate", "@d class A {}", ["syntax:1", "global:1"]],
    ["be no code", "export const = 1;", ["syntax:0"]],
  ])("%s", (_name, source, expected) => {
    expect(found(source)).toEqual(expected);
  });

  // Each gives a name a binding somewhere, but not where it is used or not at run time.
  test.each([
    ["in another block", "{ let process = 1; process; }\nexport const a = process;"],
    [
      "in another function",
      "export function b() { var process = 1; return process; }\nexport const a = process;",
    ],
    [
      "by a body, used in a default value",
      "export function b(\nx = process) { var process; return [x, process]; }",
    ],
    ["by declare", "declare const process: any;\nexport const a = process;"],
    ["by a declared function", "declare function process(): void;\nexport const a = process;"],
    ["by a type import", 'import type { process } from "zod";\nexport const a = process;'],
    ["by an inline type import", 'import { type process } from "zod";\nexport const a = process;'],
    ["by an interface", "interface process {}\nexport const a = process;"],
    ["by a type", "type process = 1;\nexport const a = process;"],
    [
      "by the name of a function expression",
      "export const b = function process() {};\nexport const a = process;",
    ],
    ["by a catch", "try { } catch (process) { }\nexport const a = process;"],
    ["by a label", "process: for (;;) break process;\nexport const a = process;"],
    ["by a property", "export const b = { process: 1 };\nexport const a = process;"],
    ["by a loop", "for (const process of []) {}\nexport const a = process;"],
    ["by a switch", "switch (1) { case 1: let process; }\nexport const a = process;"],
    ["by a class expression", "export const b = class process {};\nexport const a = process;"],
    ["by a block's function", "{ function process() {} }\nexport const a = process;"],
    ["nowhere, in shorthand", "\nexport const a = { process };"],
    ["nowhere, in an export", "\nexport { process };"],
    ["nowhere, behind a cast", "\nexport const a = (process as any)!.env;"],
    ["nowhere, in a template, a key and a spread", "\nexport const a = { [`${process}`]: [...process] };"],
    ["nowhere, as a base class", "\nexport class A extends process {}"],
    ["nowhere, as a target", "\nprocess = 1;"],
  ])("use a global whose name is bound %s", (_name, source) => {
    expect(found(source)).toEqual(["global:2"]);
  });

  test("hide a global below any nesting of scopes", () => {
    const wrap = fc.constantFrom<(inner: string) => string>(
      (inner) => `{ ${inner} }`,
      (inner) => `(() => { ${inner} })();`,
      (inner) => `if (Math) { ${inner} } else { let process; }`,
      (inner) => `for (const x of [1]) { ${inner} }`,
      (inner) => `class A { static { ${inner} } m() { const process = 1; return process; } }`,
      (inner) => `try { ${inner} } catch (process) { process; }`,
      (inner) => `(function process2(y = 1) { ${inner} })();`,
    );
    fc.assert(
      fc.property(fc.array(wrap, { maxLength: 6 }), fc.boolean(), (wraps, bound) => {
        const source = wraps.reduce((inner, outer) => outer(inner), "String(process);");
        expect(found(bound ? `const process = 1; ${source}` : source)).toEqual(bound ? [] : ["global:1"]);
      }),
    );
  });
});
