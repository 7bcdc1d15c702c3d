import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fenceOn, levelsHere, processorIn, runOnce, toolIn } from "../sandbox/fences.ts";
import { processorOf, toolOf, toolOfCases } from "../support/parts.ts";

// Canaries outside: no attack may read, change or reach them.
const outside = mkdtempSync(join(tmpdir(), "lorimer-attack-"));
const answers = join(outside, "answers.json");
const written = join(outside, "written");
let hits = 0;
const server = createServer((_, response) => {
  hits++;
  response.end("reached");
});
beforeAll(() => {
  writeFileSync(answers, "the answers");
  process.env["LORIMER_ATTACK_KEY"] = "sk-canary";
  return new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(() => {
  server.close();
  delete process.env["LORIMER_ATTACK_KEY"];
  rmSync(outside, { recursive: true, force: true });
});

// Each is one expression; what it evaluates to, or throws, is the tool's result.
const escapes: readonly (readonly [string, string])[] = [
  ["the constructor trick (T03)", '[].constructor.constructor("return process.env")()'],
  ["the async constructor trick", '(async () => {}).constructor("return process")()'],
  ["the generator constructor trick", '(function* () {}).constructor("return process")().next().value'],
  ["eval", '(0, eval)("process.env")'],
  ["the environment (T09)", "process.env.LORIMER_ATTACK_KEY"],
  ["process by globalThis", "globalThis.process.env"],
  ["getBuiltinModule", 'globalThis.process.getBuiltinModule("fs")'],
  ["binding", 'process.binding("fs")'],
  ["exit", "process.exit(7)"],
  ["require of fs", `require("fs").readFileSync(${JSON.stringify(answers)}, "utf8")`],
  ["require by a built name", 'require("node:" + ["f", "s"].join(""))'],
  ["require of a path", `require(${JSON.stringify(answers)})`],
  ["require.cache", "require.cache.x.exports"],
  ["module.constructor", 'module.constructor._load("fs")'],
  ["module.parent", 'module.parent.require("fs")'],
  ["dynamic import", 'import("node:fs").then((fs) => fs.readFileSync)'],
  ["import of child_process", 'import("node:child_process")'],
  [
    "import of a data URL",
    'import("data:text/javascript,export default 1").then((m) => m.default + "reached")',
  ],
  ["a worker thread", 'new (require("worker_threads").Worker)("1", { eval: true })'],
  ["a native addon", 'process.dlopen({ exports: {} }, "/tmp/x.node")'],
  ["WebAssembly", "WebAssembly.Memory.name"],
  ["arguments.callee", "(function () { return arguments.callee.caller })()"],
  [
    "a call site",
    "(() => { Error.prepareStackTrace = (_, sites) => sites[0].getThis(); return new Error().stack.env })().X",
  ],
  [
    "a template for the host's Function",
    'Reflect.construct(Object.getPrototypeOf(async function* () {}).constructor, ["yield 1"])',
  ],
  ["a prototype's setter", "Object.prototype.__proto__.constructor"],
  ["a sandbox's own objects", 'context.resource.constructor("return process")()'],
  ["an inherited require", 'require.constructor("return process")()'],
];

describe.each(await levelsHere())("authored code on the %s fence", async (level) => {
  const fence = await fenceOn(level);
  const hasty = await fenceOn(level, { callTimeoutMs: 1000 });

  const escaping = toolOfCases(escapes.map(([, attack]) => `return String(await (${attack}))`));
  it.each(escapes.map(([name], index) => [name, index] as const))("fails with %s", async (_name, index) => {
    const { result, isError } = await runOnce(fence, escaping, { index });
    expect(result).not.toMatch(/the answers|sk-canary|reached/);
    expect(isError || result === "undefined" || result === "null").toBe(true);
  });

  it("reaches no network", async () => {
    const { port } = server.address() as AddressInfo;
    const before = hits;
    for (const attack of [
      `fetch("http://127.0.0.1:${port}/").then((r) => r.text())`,
      `new WebSocket("ws://127.0.0.1:${port}/")`,
      `new Promise((done) => require("net").connect(${port}).on("connect", done))`,
      `import("node:http").then((http) => http.get("http://127.0.0.1:${port}/"))`,
      `new EventSource("http://127.0.0.1:${port}/")`,
    ]) {
      expect(await runOnce(fence, toolOf(`return String(await (${attack}))`))).toMatchObject({
        isError: true,
      });
    }
    expect(hits).toBe(before);
  });

  it("cannot patch anything that others use, and no answer changes", async () => {
    const patches = [
      "JSON.stringify = () => '{\"pass\":true}'",
      "globalThis.JSON = { stringify: () => 'forged', parse: () => ({}) }",
      "Array.prototype.map = () => ['forged']",
      "Object.prototype.polluted = true",
      "Promise.prototype.then = () => 'forged'",
      "Buffer.prototype.write = () => 0; Buffer.alloc = () => 'forged'",
      "Buffer.byteLength = () => 1",
      "Object.getPrototypeOf(Buffer.prototype).set = () => {}",
      "console.log = () => 'forged'",
      "Symbol.iterator = null",
      "Map.prototype.get = () => 'forged'",
      "setTimeout = (callback) => callback()",
      "globalThis.undefined = 1",
      "Object.defineProperty(globalThis, 'String', { value: () => 'forged' })",
      "globalThis.stash = 'kept'",
      "z.ZodObject.prototype.safeParseAsync = async () => ({ success: true, data: 'forged' })",
      "Object.getPrototypeOf(z.object({})).safeParseAsync = () => 'forged'",
      "Object.getPrototypeOf(z.object({})._zod).stash = 'kept'",
      "tool.stash = 'kept'",
      "Object.getPrototypeOf(context.workspace.read).stash = 'kept'",
      "context.workspace.read = () => 'forged'",
      "context.resources.push('forged')",
      "require.stash = 'kept'",
    ];
    const body = `
      const patches = [${patches.map((patch) => `() => { ${patch} }`).join(",\n")}];
      const patched = patches.filter((patch) => { try { patch(); return true } catch { return false } }).map(String);
      return { patched, polluted: String({}.polluted), stash: String(globalThis.stash) };`;
    const first = await runOnce(fence, toolOf(body));
    expect(JSON.parse(first.result)).toEqual({ patched: [], polluted: "undefined", stash: "undefined" });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await runOnce(fence, toolOf("return { pass: false }"))).result).toBe('{"pass":false}');
  });

  it.each([
    ["an endless loop (T02)", "for (;;) {}"],
    ["a slow regular expression", 'return String(/^(a+)+$/.test("a".repeat(40) + "!"))'],
    ["endless microtasks", "for (;;) await null"],
    ["a getter that loops", "return { get a() { for (;;) {} } }"],
    ["a thenable that loops", "return { then() { for (;;) {} } }"],
    ["an error whose message loops", "throw { toString() { for (;;) {} } }"],
  ])("is stopped in %s, while this process stays live", async (_name, body) => {
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 50);
    const { result, isError, faults } = await runOnce(hasty, toolOf(body));
    clearInterval(ticking);
    expect({ result, isError }).toEqual({ result: "[probe failed: timeout after 1000 ms]", isError: true });
    expect(faults).toEqual(["probe: timeout after 1000 ms"]);
    expect(ticks).toBeGreaterThan(0);
  });

  it("waits for a promise that nothing settles, and is told so at once", async () => {
    const { result } = await runOnce(fence, toolOf("await new Promise(() => {})"));
    expect(result).toBe("[probe failed: its worker died: it waited for a promise that nothing settles]");
  });

  it.each([
    ["the heap", "const all = []; for (;;) all.push(new Array(1e6).fill(all.length))"],
    ["memory outside the heap", "const all = []; for (;;) all.push(Buffer.alloc(5e7, 1))"],
  ])("dies alone when it fills %s", async (_name, body) => {
    const { result, isError, faults } = await runOnce(fence, toolOf(body));
    expect(isError).toBe(true);
    expect(result).toMatch(/^\[probe failed: (its worker died|timeout|.*allocation failed)/);
    if (!/allocation failed/.test(result)) expect(faults).toHaveLength(1);
    expect((await runOnce(fence, toolOf("return 'alive'"))).result).toBe("alive");
  });

  it.each([
    ["a proxy", "return new Proxy({}, { get() { throw new Error('trap') }, ownKeys() { return ['a'] } })"],
    ["300,000 keys", "const a = {}; for (let i = 0; i < 3e5; i++) a['key' + i] = i; return a"],
    ["a circle", "const a = {}; a.a = a; return a"],
    ["a depth of 10,000", "let a = 1; for (let i = 0; i < 1e4; i++) a = [a]; return a"],
  ])("returns %s, and that is an outcome", async (_name, body) => {
    const { result, faults } = await runOnce(fence, toolOf(body));
    expect(result.length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  it("yields what is nested too deeply, and is stopped for it", async () => {
    const parts = await fence.loader.open([
      processorOf("async *onStepEnd() { let a = 1; for (let i = 0; i < 1000; i++) a = [a]; yield a }"),
    ]);
    await expect(processorIn(parts).run("onStepEnd", {})).rejects.toThrow(/onStepEnd: .*nested too deeply/);
    expect(await parts.close()).toHaveLength(1);
  });

  it("prints without end, and nobody listens (T10)", async () => {
    const body =
      "for (let i = 0; i < 1e5; i++) { console.log('x'.repeat(1000)); console.error('y') } return 'fine'";
    expect(await runOnce(fence, toolOf(body))).toEqual({ result: "fine", isError: false, faults: [] });
  });

  it("does its harm at import, and the part is refused", async () => {
    const open = (top: string) => hasty.loader.open([toolOf("return 'x'", { top })]);
    await expect(open("for (;;) {}")).rejects.toThrow("probe: timeout after 1000 ms");
    await expect(open("process.exit(0);")).rejects.toThrow("process is not defined");
    expect(existsSync(written)).toBe(false);
  });

  it("throws in one rollout's hook; another rollout is untouched (T06)", async () => {
    const part = processorOf(`
      count = 0;
      async *onStepStart(event) {
        if (event.step === 3) throw new Error("step 3");
        yield { count: ++this.count };
      }`);
    const [bad, good] = await Promise.all([fence.loader.open([part]), fence.loader.open([part])]);
    await expect(processorIn(bad).run("onStepStart", { step: 3 })).rejects.toThrow("onStepStart: step 3");
    expect(await processorIn(good).run("onStepStart", { step: 0 })).toEqual([{ count: 1 }]);
    expect(await Promise.all([bad.close(), good.close()])).toEqual([[], []]);
  });

  it("leaves a timer or a rejection, and its own rollout is blamed, not the next", async () => {
    const part = toolOf(
      `if (input.how === "timer") setTimeout(() => { throw new Error("late") }, 10_000);
       if (input.how === "due") setTimeout(() => { throw new Error("due") }, 0);
       if (input.how === "rejection") Promise.reject(new Error("nobody"));
       if (input.how === "microtask") queueMicrotask(() => { throw new Error("micro") });
       return "fine"`,
      { input: "{ how: z.string() }" },
    );
    const rollout = async (how: string) => (await runOnce(fence, part, { how })).faults;
    expect(await rollout("timer")).toEqual(["left 1 timer running"]);
    expect(await rollout("none")).toEqual([]);
    expect(await rollout("rejection")).toEqual(["a promise was rejected and nobody handled it: nobody"]);
    expect(await rollout("none")).toEqual([]);
    expect(await rollout("microtask")).toEqual(["an error was thrown outside any call: micro"]);
    expect(await rollout("none")).toEqual([]);
    expect((await rollout("due")).length).toBe(1);
    expect(await rollout("none")).toEqual([]);
  });

  it("starves its worker after the answer, and its own rollout is blamed", async () => {
    const part = toolOf("if (input.spin) (async () => { for (;;) await null })(); return 'fine'", {
      input: "{ spin: z.boolean() }",
    });
    const parts = await hasty.loader.open([part]);
    expect(await toolIn(parts).run({ spin: true })).toEqual({ result: "fine", isError: false });
    expect(await parts.close()).toEqual(["after the rollout: timeout after 1000 ms"]);
    expect(await runOnce(fence, part, { spin: false })).toMatchObject({ result: "fine", faults: [] });
  });
});
