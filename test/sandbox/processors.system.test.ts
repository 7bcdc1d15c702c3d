import { describe, expect, it } from "vitest";
import { authored, processorOf } from "../support/parts.ts";
import { fenceOn, levelsHere, processorIn } from "./fences.ts";

const event = { type: "step-start", step: 0, maxSteps: 5, messages: [{ role: "user", content: "hello" }] };

describe.each(await levelsHere())("processors on the %s fence", async (level) => {
  const fence = await fenceOn(level);
  const openOne = async (members: string, options = {}) => {
    const parts = await fence.loader.open([processorOf(members, options)]);
    return { processor: processorIn(parts), close: () => parts.close() };
  };

  it("are described by their statics and hooks, inherited ones too", async () => {
    const source = `
      import { Processor } from "lorimer/processors";
      class Base extends Processor { async *onTaskEnd(event) { yield event; } }
      export class Probe extends Base {
        static order = 10; static group = "trim"; static after = ["strip"];
        async *onStepStart(event) { yield event; }
      }`;
    const parts = await fence.loader.open([authored("processor", source, "Probe")]);
    expect(processorIn(parts)).toMatchObject({ name: "Probe", order: 10, group: "trim", after: ["strip"] });
    expect([...processorIn(parts).hooks].sort()).toEqual(["onStepStart", "onTaskEnd"]);
    await parts.close();
  });

  it("have defaults", async () => {
    const { processor, close } = await openOne("async *onStepStart(event) { yield event; }");
    expect(processor).toMatchObject({ order: 20, group: undefined, after: [] });
    await close();
  });

  it("return what they yielded, as it was when they yielded it", async () => {
    const { processor, close } = await openOne(`
      async *onStepStart(event) {
        yield event;
        event.messages = [];
        yield { type: "trigger", action: "cut", detail: undefined, on: new Date(0) };
        yield undefined;
      }`);
    expect(await processor.run("onStepStart", event)).toEqual([
      event,
      { type: "trigger", action: "cut", on: "1970-01-01T00:00:00.000Z" },
      null,
    ]);
    expect(await close()).toEqual([]);
  });

  it("keep state within a rollout and lose it after", async () => {
    const members = "count = 0; async *onStepStart(event) { yield { count: ++this.count }; }";
    for (let rollout = 0; rollout < 2; rollout++) {
      const { processor, close } = await openOne(members);
      await processor.run("onStepStart", event);
      expect(await processor.run("onStepStart", event)).toEqual([{ count: 2 }]);
      expect(await close()).toEqual([]);
    }
  });

  it("take options through their schema", async () => {
    const members = `
      static options = z.object({ tail: z.number().default(5) });
      async *onStepStart() { yield this.options.tail; }`;
    for (const [options, tail] of [[{}, 5] as const, [{ tail: 7 }, 7] as const]) {
      const { processor, close } = await openOne(members, options);
      expect(await processor.run("onStepStart", event)).toEqual([tail]);
      await close();
    }
    await expect(openOne(members, { tail: "x" })).rejects.toThrow(/wrong options: tail/);
    await expect(openOne(members, { tial: 7 })).rejects.toThrow(/tial/);
    await expect(openOne("", { tail: 7 })).rejects.toThrow("takes no options, but is given tail");
    await expect(openOne("static options = z.object({ a: z.number() });")).rejects.toThrow(
      /needs a default: a/,
    );
  });

  it.each([
    [
      "async *onBeforeModle(e) { yield e }",
      /onBeforeModle is no hook, did you mean `onBeforeModel`\?.*onTaskStart/,
    ],
    ["onStepEnded = async function* () {}", /onStepEnded is no hook/],
    ["constructor() { super({}); throw new Error('not today'); }", /not today/],
    ["static order = 'first';", /static order must be a number/],
    ["static handles = { 'my-event': 'missing' };", /names a method for "my-event"/],
  ])("with %j are refused: %s", async (members, message) => {
    await expect(openOne(members)).rejects.toThrow(message);
  });

  it.each([
    ["onStepStart() { return 42 }", /^onStepStart: is no generator/],
    ["async onStepStart() {}", /^onStepStart: is no generator: write it as `async \*onStepStart/],
    ["async *onStepStart() { throw new Error('step 0 is bad') }", /^onStepStart: step 0 is bad$/],
    ["async *onStepStart() { for (;;) yield 1 }", /^onStepStart: yielded more than 64 values$/],
    ["async *onStepStart() { yield 'x'.repeat(3e6) }", /^onStepStart: yielded more than \d+ bytes$/],
    ["async *onStepStart() { const a = {}; a.a = a; yield a }", /^onStepStart: .*circular/],
    ["async *onStepStart() { yield { get a() { throw new Error('in a getter') } } }", /in a getter/],
    [
      "async *onStepStart() { yield new Proxy({}, { ownKeys() { throw new Error('in a trap') } }) }",
      /in a trap/,
    ],
  ])("whose hook is %j reject, and the rollout goes on", async (members, message) => {
    const { processor, close } = await openOne(`${members} async *onStepEnd() { yield "alive" }`);
    await expect(processor.run("onStepStart", event)).rejects.toThrow(message);
    expect(await processor.run("onStepEnd", { type: "step-end", step: 0, maxSteps: 5 })).toEqual(["alive"]);
    expect(await close()).toEqual([]);
  });

  it("are one a file, and the one that the config names", async () => {
    const two = `import { Processor } from "lorimer/processors";
      export class Probe extends Processor {} export class Other extends Processor {}`;
    await expect(fence.loader.open([authored("processor", two, "Probe")])).rejects.toThrow(
      /exports 2 processors/,
    );
    const none = "export class Probe {}";
    await expect(fence.loader.open([authored("processor", none, "Probe")])).rejects.toThrow(
      /extends Processor/,
    );
  });
});
