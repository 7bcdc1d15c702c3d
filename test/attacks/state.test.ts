import { describe, expect, it } from "vitest";
import { fenceOn, levelsHere, runOnce } from "../sandbox/fences.ts";
import { toolOfCases } from "../support/parts.ts";

// Places where a rollout may try to leave something for the next; `look` runs first in both.
const places = [
  ["module state", "kept", "kept = 'x'"],
  ["a global", "globalThis.kept", "globalThis.kept = 'x'"],
  ["a global's property", "Math.kept", "Math.kept = 'x'"],
  ["a function's property", "setTimeout.kept", "setTimeout.kept = 'x'"],
  ["Buffer", "Buffer.kept", "Buffer.kept = 'x'"],
  ["Buffer's pool", "Buffer.from('abc').buffer.byteLength > 100 ? 'pool' : undefined", ""],
  [
    "uninitialised memory",
    "Buffer.allocUnsafe(5e4).some((byte) => byte !== 0) || undefined",
    "Buffer.alloc(5e4, 7)",
  ],
  ["the last match", "RegExp.lastMatch.match(/^x+$/) ? 'x' : undefined", "/x+/.exec('xxx')"],
  ["the last input", "RegExp.$_.match(/^x+$/) ? 'x' : undefined", "/x+/.exec('xxx'); RegExp.input = 'xxx'"],
  ["a tool's module", "tool.kept", "tool.kept = 'x'"],
  ["zod", "z.kept", "z.kept = 'x'"],
  ["a common schema's prototype", "z.string().kept", "Object.getPrototypeOf(z.string()).kept = 'x'"],
  [
    "a common schema's internals",
    "z.string()._zod.kept",
    "Object.getPrototypeOf(z.string()._zod).kept = 'x'",
  ],
  ["a rare schema's prototype", "z.ksuid().kept", "Object.getPrototypeOf(z.ksuid()).kept = 'x'"],
  [
    "a rare schema's internals",
    "z.map(z.any(), z.any())._zod.kept",
    "Object.getPrototypeOf(z.map(z.any(), z.any())._zod).kept = 'x'",
  ],
  ["a schema's constructor", "z.string()._zod.constr.kept", "z.string()._zod.constr.kept = 'x'"],
  ["a getter of zod's", "getterOf('parse')?.kept", "getterOf('parse').kept = 'x'"],
  [
    "zod's registry",
    "z.globalRegistry?._idmap.get('kept')",
    "z.string().meta({ id: 'kept' }); z.globalRegistry.add(z.string(), { id: 'kept' })",
  ],
  ["the workspace", "(await context.workspace.list())[0]", "await context.workspace.write('kept', 'x')"],
  ["a context's function", "context.resource.kept", "context.resource.kept = 'x'"],
  ["the workspace's function", "context.workspace.read.kept", "context.workspace.read.kept = 'x'"],
  ["require", "require.kept", "require.kept = 'x'"],
  ["the console's function", "console.log.kept", "console.log.kept = 'x'"],
  ["a pure module", "require('node:path').join.kept", "require('node:path').join.kept = 'x'"],
  ["the context", "context.kept", "context.kept = 'x'"],
  ["the resources' list", "context.resources.kept", "context.resources.kept = 'x'"],
  [
    "/tmp",
    "require('node:fs').readFileSync('/tmp/kept')",
    "require('node:fs').writeFileSync('/tmp/kept', 'x')",
  ],
] as const;

const top = `
  let kept;
  const getterOf = (name) => {
    for (let at = z.string(); at !== null; at = Object.getPrototypeOf(at)) {
      const found = Object.getOwnPropertyDescriptor(at, name);
      if (found) return found.get ?? found.value;
    }
  };`;

describe.each(await levelsHere())("what a rollout leaves on the %s fence", async (level) => {
  const fence = await fenceOn(level);

  const bodies = places.map(
    ([, look, leave]) => `
      let seen;
      try { seen = ${look}; } catch {}
      try { ${leave}; } catch {}
      return [seen === undefined ? null : String(seen)];`,
  );
  const part = toolOfCases(bodies, { top });

  it.each(places.map(([place], index) => [place, index] as const))("in %s is gone", async (_place, index) => {
    for (let rollout = 0; rollout < 3; rollout++) {
      expect(await runOnce(fence, part, { index })).toEqual({ result: "[null]", isError: false, faults: [] });
    }
  });
});
