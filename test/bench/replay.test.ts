import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { replayRecord, selfReplay } from "../../src/bench/replay.ts";
import { rollOut } from "../../src/bench/rollouts.ts";
import type { LoadedHarness } from "../../src/config/harness.ts";
import { createScriptedModel, type ScriptedReply } from "../../src/model/scripted.ts";
import { createSimModel } from "../../src/model/sim/model.ts";
import type { TraceEvent } from "../../src/trace/events.ts";
import { call, calling, ofType } from "../support/agent.ts";
import { inProcessLoader } from "../support/in-process.ts";
import { benchOf, harnessFolder, recipeOf, task } from "./bench-of.ts";

const { dir, harness } = harnessFolder();

const toolSource = (name: string, body: string, description = "A tool.") => `
import { tool } from "lorimer/tools";
import { z } from "zod";
export const ${name} = tool({
  description: ${JSON.stringify(description)},
  input: z.looseObject({}),
  async run(input, context) { ${body} },
});`;
const processorSource = (name: string, members: string) => `
import { Processor } from "lorimer/processors";
import { z } from "zod";
export class ${name} extends Processor { ${members} }`;

interface Parts {
  prompt?: string;
  tools?: Record<string, string> | undefined;
  processors?: Record<string, string>;
  /** Options of every processor. */
  options?: Record<string, unknown>;
  skill?: string;
  limits?: Record<string, unknown>;
  allowlist?: string[];
  builtin?: string[];
}

/** A harness of these parts: bodies of tools and members of processors by their names. */
function harnessOf({ prompt = "Be brief.", tools = {}, processors = {}, ...rest }: Parts): LoadedHarness {
  const file = (kind: string, name: string, as = `::${name}`) => `file://$GENERATION/${kind}/${name}.ts${as}`;
  const config = {
    prompt,
    processors: Object.keys(processors).map((name) => ({
      _target_: file("processors", name),
      ...rest.options,
    })),
    tools: {
      builtin: rest.builtin ?? [],
      custom: Object.keys(tools).map((name) => file("tools", name)),
      ...(rest.allowlist && { allowlist: rest.allowlist }),
    },
    limits: { max_steps: 8, ...rest.limits },
    ...(rest.skill !== undefined && { skills: ["file://$GENERATION/skills/submit/SKILL.md"] }),
  };
  return harness({
    "config.yaml": stringify(config),
    ...Object.fromEntries(
      Object.entries(tools).map(([name, body]) => [`tools/${name}.ts`, toolSource(name, body)]),
    ),
    ...Object.fromEntries(
      Object.entries(processors).map(([name, members]) => [
        `processors/${name}.ts`,
        processorSource(name, members),
      ]),
    ),
    ...(rest.skill !== undefined && {
      "skills/submit/SKILL.md": `---\nname: submit\ndescription: How to submit.\n---\n${rest.skill}`,
    }),
  });
}

/** A model that says the n-th reply in a rollout's n-th turn, however often it is run. */
function turns(...replies: ScriptedReply[]) {
  return createScriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length;
    return replies[turn] ?? "The answer.";
  });
}

const note = `await context.workspace.write("note.txt", JSON.stringify(input)); return "noted";`;
const base: Parts = {
  tools: { look: `return "found " + input.q + " " + Math.random().toFixed(6);`, note },
  processors: { Watcher: `async *onAfterTool(event) { yield { ...event, result: event.result + "!" }; }` },
};
const model = turns(
  calling(call("look", { q: "x" }), call("note", { a: 1 })),
  calling(call("look", { q: "y" })),
  calling(call("look", { q: "x" })),
);

async function recordOf(
  parts: Parts,
  by = model,
): Promise<{ record: TraceEvent[]; champion: LoadedHarness }> {
  const champion = harnessOf(parts);
  const request = { harness: champion, task: task("The answer."), split: "evolve", seed: 3 } as const;
  const { events } = await rollOut(benchOf({ model: by }), request, "key");
  return { record: events, champion };
}

async function replay(was: Parts, is: Parts, by = model, policy = "fail-task") {
  const { record, champion } = await recordOf(was, by);
  const ran: string[] = [];
  const bench = benchOf({ model: by, loader: inProcessLoader({ ran }), recipe: recipeOf({ policy }) });
  const replayed = await replayRecord(bench, record, { harness: harnessOf(is), champion });
  return { ...replayed, record, ran };
}

const divergenceOf = async (...given: Parameters<typeof replay>) => {
  const { divergence } = await replay(...given);
  return divergence && [divergence.step, divergence.cause.kind, divergence.cause.name];
};

describe("the champion replays itself", () => {
  test("to the end, with recorded results and not one tool run", async () => {
    const { divergence, validUntilStep, result, ran, faults, fired } = await replay(base, base);
    expect(divergence).toBeUndefined();
    expect(validUntilStep).toBe(4);
    expect(result).toMatchObject({ exitReason: "done", answer: "The answer.", steps: 4 });
    expect(ran).toEqual([]);
    expect(faults).toEqual([]);
    expect(fired).toEqual([0, 0, 1, 2].map((step) => ({ processor: "Watcher", step })));
  });

  test.each<[string, Parts, ReturnType<typeof turns>]>([
    ["max_steps", { ...base, limits: { max_steps: 2 } }, model],
    ["a budget", { ...base, limits: { max_tokens: 12 } }, model],
    ["format errors", base, turns("", "", "", "", "")],
    [
      "a processor's fault",
      { processors: { Bad: `async *onAfterModel() { throw new Error("oh no"); }` } },
      model,
    ],
    [
      "a fault on the first hook",
      { processors: { Bad: `async *onTaskStart() { throw new Error("oh no"); }` } },
      model,
    ],
    ["dropped turns", { processors: { Bad: "async *onAfterModel() {}" }, limits: { max_steps: 3 } }, model],
    ["dropped steps", { processors: { Bad: "async *onStepStart(e) { if (e.step > 1) yield e; }" } }, model],
  ])("also when it ended by %s", async (_what, parts, by) => {
    expect((await replay(parts, parts, by)).divergence).toBeUndefined();
  });

  test("on the simulated agent, with built-in tools and processors that rewrite messages", async () => {
    const resources = join(dir, "sim-resources");
    mkdirSync(resources);
    writeFileSync(join(resources, "history.txt"), "nothing of use");
    const champion = harnessOf({
      prompt:
        'Call Read first. End with one line of the form "ROUTE <route>", where <route> is one of junk, inbox.',
      builtin: ["Read", "Glob", "Grep"],
      processors: {
        Cutter: `async *onStepStart(event) {
          const tail = event.messages.at(-1);
          if (tail.role !== "user") return yield event;
          yield { ...event, messages: [...event.messages.slice(0, -1), { ...tail, content: tail.content.slice(0, 300) }] };
        }`,
        Hinter: `async *onBeforeModel(event) {
          if (event.messages.at(-1).role === "user") return yield event;
          yield { ...event, messages: [...event.messages, { role: "user", content: "Decide now." }] };
        }`,
      },
    });
    const sim = createSimModel({
      ...{ kind: "sim", name: "sim", context_chars: 4000, compliance: 1, habit: 0 },
      sampling: {},
    });
    const spec = {
      ...{ name: "triage", trigger: "mail came", inputs: ["body"], writeback: "log", allowlist: ["*"] },
      decisions: { route: { options: ["junk", "inbox"] } },
      eval_gate: { max_iters: 8 },
    };
    const bench = benchOf({ model: sim, resources, recipe: recipeOf({ spec }) });
    const records = await Promise.all(
      [1, 2, 3].map(async (seed) => {
        const request = {
          harness: champion,
          task: task("ROUTE junk", `t${seed}`),
          split: "evolve",
          seed,
        } as const;
        return (await rollOut(bench, request, `key-${seed}`)).events;
      }),
    );
    expect(ofType(records[0] ?? [], "tool-call").length).toBeGreaterThan(0);
    expect(await selfReplay(bench, records, champion)).toEqual({
      replayable: [true, true, true],
      causes: {},
    });
  });

  test("not on a record that broke off, nor on one that its clock ended; the causes are counted", async () => {
    const { record, champion } = await recordOf(base);
    const torn = record.filter(({ type }) => type !== "rollout-end");
    const lastRequest = record.findLastIndex(({ type }) => type === "model-request");
    const late = record
      .slice(0, lastRequest)
      .concat(
        ofType(record, "rollout-end").map((end) => ({ ...end, exitReason: "timeout" as const, answer: "" })),
      );
    const { replayable, causes } = await selfReplay(benchOf({ model }), [record, torn, late], champion);
    expect(replayable).toEqual([true, false, false]);
    expect(causes).toEqual({ "end:unfinished": 1, "end:timeout": 1 });
  });
});

const pass = (hook: string) => `async *${hook}(event) { yield event; }`;
const both = (added: Record<string, string>): Parts => ({
  ...base,
  processors: { ...base.processors, ...added },
});

describe("a changed", () => {
  test("prompt differs at the first request", async () => {
    expect(await divergenceOf(base, { ...base, prompt: "Be long." })).toEqual([0, "prompt", "system prompt"]);
  });

  test("skill differs at the first request, or where its text is read", async () => {
    expect(await divergenceOf(base, { ...base, skill: "Do it." })).toEqual([0, "prompt", "skills"]);
    const by = turns(calling(call("invoke_skill", { name: "submit" })));
    expect(await divergenceOf({ skill: "Do it." }, { skill: "Do it well." }, by)).toEqual([
      1,
      "prompt",
      "skills",
    ]);
    expect(await divergenceOf({ skill: "Do it." }, { skill: "Do it." }, by)).toBeUndefined();
  });

  test.each<[string, Parts["tools"], string]>([
    ["more", { ...base.tools, more: `return "x";` }, "more"],
    ["fewer", { look: base.tools?.look ?? "" }, "note"],
  ])("tool list, %s, differs at the first request", async (_what, tools, name) => {
    expect(await divergenceOf(base, { ...base, tools })).toEqual([0, "tool", name]);
  });

  test("tool runs for real, and differs where its result is seen", async () => {
    const by = turns(calling(call("note", { a: 1 })), calling(call("look", { q: "x" })));
    const changed = { ...base, tools: { ...base.tools, look: `return "found nothing";` } };
    const { divergence, ran } = await replay(base, changed, by);
    expect(divergence).toEqual({ step: 2, cause: { kind: "tool", name: "look" } });
    expect(ran).toEqual(["note", "look"]);
  });

  test("tool with the same results makes no difference, and its text is not its behaviour", async () => {
    const was: Parts = { tools: { look: `return "found " + input.q;`, note } };
    const same: Parts = { tools: { look: `const q = input.q; return "found " + q;`, note } };
    expect(await replay(was, same)).toMatchObject({
      divergence: undefined,
      ran: ["look", "note", "look", "look"],
    });
    const spaced: Parts = { tools: { look: `\n\n  return "found "   + input.q; /* found */`, note } };
    expect(await replay(was, spaced)).toMatchObject({ divergence: undefined, ran: [] });
  });

  test("tool finds the workspace as the recorded calls left it", async () => {
    const by = turns(
      calling(call("note", { a: 1 }), call("fails")),
      calling(call("read"), call("Read", { path: "workspace/note.txt" })),
    );
    const tools = (read: string) => ({ note, fails: `throw new Error("no");`, read });
    const was: Parts = {
      builtin: ["Read"],
      tools: tools(`return await context.workspace.read("note.txt");`),
    };
    const is: Parts = {
      builtin: ["Read"],
      tools: tools(`return (await context.workspace.read("note.txt")).trim();`),
    };
    const { divergence, ran } = await replay(was, is, by);
    expect(divergence).toBeUndefined();
    expect(ran).toEqual(["note", "read"]);
  });

  test("processor differs at the request that it changes", async () => {
    const late = `async *onBeforeModel(event) {
      if (event.step < 2) return yield event;
      yield { ...event, messages: [...event.messages, { role: "user", content: "Hurry." }] };
    }`;
    expect(await divergenceOf(base, both({ Late: late }))).toEqual([2, "processor", "Late"]);
    const prompted = `async *onTaskStart(event) { yield { ...event, systemPrompt: "Be kind." }; }`;
    expect(await divergenceOf(base, both({ Prompted: prompted }))).toEqual([0, "processor", "Prompted"]);
    const cutter = `async *onStepStart(event) {
      if (event.step < 2) return yield event;
      yield { ...event, messages: event.messages.map((m, i) => i === 3 ? { ...m, content: "[old]" } : m) };
    }`;
    expect(await divergenceOf(base, both({ Cutter: cutter }))).toEqual([2, "processor", "Cutter"]);
    const blocker = `async *onBeforeTool(event) { if (event.call.input.q !== "y") yield event; }`;
    expect(await divergenceOf(base, both({ Blocker: blocker }))).toEqual([2, "processor", "Blocker"]);
    const caller = `async *onAfterModel(event) {
      yield event.step === 1 ? { ...event, toolCalls: [...event.toolCalls, { id: "n", name: "note", input: {} }] } : event;
    }`;
    expect(await divergenceOf(base, both({ Caller: caller }))).toEqual([2, "processor", "Caller"]);
  });

  test("processor that is gone differs where it acted", async () => {
    expect(await divergenceOf(base, { ...base, processors: {} })).toEqual([1, "processor", "Watcher"]);
  });

  test("processor is to blame also where it says the same and does another thing", async () => {
    const members = `static options = z.object({ mark: z.string().default("!") });
      async *onAfterTool(event) {
        yield { ...event, result: event.result + this.options.mark };
        yield { type: "trigger", action: "marked" };
      }`;
    const was = { ...base, processors: { Marker: members } };
    expect(await divergenceOf(was, { ...was, options: { mark: "?" } })).toEqual([1, "processor", "Marker"]);
  });

  test("processor that sends the last reply back differs past the record's end", async () => {
    const nudge = `sent = false;
      async *onAfterModel(event) {
        if (this.sent || event.toolCalls.length > 0) return yield event;
        this.sent = true;
        yield { type: "trigger", action: "sent back" };
      }`;
    const { divergence, validUntilStep, result } = await replay(base, both({ Nudge: nudge }));
    expect(divergence).toEqual({ step: 4, cause: { kind: "processor", name: "Nudge" } });
    expect(validUntilStep).toBe(4);
    expect(result).toBeUndefined();
  });

  test("processor that changes only the answer differs at the end, with its own answer as the result", async () => {
    const hijacker = `async *onAfterModel(event) {
      yield event.toolCalls.length > 0 ? event : { ...event, content: "Mine." };
    }`;
    const { divergence, validUntilStep, result } = await replay(base, both({ Hijacker: hijacker }));
    expect(divergence).toEqual({ step: 4, cause: { kind: "processor", name: "Hijacker" } });
    expect(validUntilStep).toBe(4);
    expect(result?.answer).toBe("Mine.");
  });

  test("processor that changes only the last, unseen results differs at the end", async () => {
    const limits = { max_steps: 2 };
    const by = turns(calling(call("look", { q: "x" })), calling(call("look", { q: "y" })));
    const was = { ...base, limits };
    const marked = `async *onAfterModel(event) {
      yield event.step === 1 ? { ...event, toolCalls: [{ id: "z", name: "look", input: {} }] } : event;
    }`;
    expect(
      await divergenceOf(was, { ...was, processors: { ...base.processors, Marked: marked } }, by),
    ).toEqual([2, "processor", "Marked"]);
  });

  test("processor that fails is named with hook and step, by either policy", async () => {
    const bad = both({
      Bad: `async *onStepEnd(event) { if (event.step === 1) throw new Error("oh no"); yield event; }`,
    });
    const failed = await replay(base, bad);
    expect(failed.divergence).toEqual({ step: 2, cause: { kind: "processor", name: "Bad" } });
    expect(failed.result).toMatchObject({ exitReason: "error" });
    expect(failed.errors).toEqual([
      { processor: "Bad", hook: "onStepEnd", step: 1, message: "Bad onStepEnd: oh no" },
    ]);
    const skipped = await replay(base, bad, model, "skip");
    expect(skipped).toMatchObject({ divergence: undefined, errors: [{ processor: "Bad", step: 1 }] });
  });

  test("processor that changes nothing makes no difference, but is seen to have fired", async () => {
    expect((await replay(base, both({ Inert: pass("onStepStart") }))).divergence).toBeUndefined();
    const talker = `async *onStepStart(event) { yield event; yield { type: "trigger", action: "looked" }; }`;
    const { divergence, fired } = await replay(base, both({ Talker: talker }));
    expect(divergence).toBeUndefined();
    expect(fired.filter(({ processor }) => processor === "Talker").map(({ step }) => step)).toEqual([
      0, 1, 2, 3,
    ]);
  });
});

describe("a changed limit differs", () => {
  const short = { ...base, limits: { max_steps: 3 } };

  test("where the model is told of it", async () => {
    expect(await divergenceOf(base, short)).toEqual([2, "knob", "limits.max_steps"]);
    expect(await divergenceOf(short, base)).toEqual([2, "knob", "limits.max_steps"]);
  });

  test("where it ends the rollout", async () => {
    const tight = { ...base, limits: { max_tokens: 12 } };
    const { divergence, result } = await replay(base, tight);
    expect(divergence).toEqual({ step: 2, cause: { kind: "knob", name: "limits.max_tokens" } });
    expect(result).toMatchObject({ exitReason: "budget", steps: 2 });
  });

  test("where it ended the record", async () => {
    const tight = { ...base, limits: { max_tokens: 12 } };
    expect(await divergenceOf(tight, base)).toEqual([2, "knob", "limits.max_tokens"]);
    const one = { ...base, limits: { max_steps: 1 } };
    expect(await divergenceOf(one, { ...base, limits: { max_steps: 8 } })).toEqual([
      1,
      "knob",
      "limits.max_steps",
    ]);
  });

  test("where both end alike, but not after as many requests", async () => {
    const mute = (max_steps: number): Parts => ({
      processors: { Mute: "async *onAfterModel() {}" },
      limits: { max_steps },
    });
    expect(await divergenceOf(mute(1), mute(2))).toEqual([1, "knob", "limits.max_steps"]);
    expect(await divergenceOf(mute(2), mute(1))).toEqual([1, "knob", "limits.max_steps"]);
  });

  test("where it keeps a call from running", async () => {
    const by = turns(calling(call("look", { q: "x" }), call("look", { q: "y" })));
    expect(await divergenceOf(base, { ...base, limits: { exclusive: ["look"] } }, by)).toEqual([
      1,
      "knob",
      "limits.exclusive",
    ]);
    expect(await divergenceOf(base, { ...base, allowlist: ["note"] }, by)).toEqual([
      1,
      "knob",
      "tools.allowlist",
    ]);
  });

  test("not where it is not reached", async () => {
    expect(await divergenceOf(base, { ...base, limits: { max_tokens: 100_000 } })).toBeUndefined();
  });
});

test("a candidate that cannot be built is an error, not a divergence", async () => {
  const twice = `static group = "guard"; ${pass("onStepEnd")}`;
  await expect(replay(base, both({ A: twice, B: twice }))).rejects.toThrow("A and B are both of group guard");
});

test("resources are read again where another tool runs for real", async () => {
  const resources = join(dir, "resources");
  mkdirSync(resources);
  writeFileSync(join(resources, "facts.txt"), "a fact");
  const by = turns(calling(call("Read", { path: "resources/facts.txt" }), call("look", { q: "x" })));
  const was = harnessOf({ builtin: ["Read"], tools: { look: `return "found";` } });
  const is = harnessOf({ builtin: ["Read"], tools: { look: `return "fo" + "und";` } });
  const bench = benchOf({ model: by, resources });
  const request = { harness: was, task: task("The answer."), split: "evolve", seed: 3 } as const;
  const { events } = await rollOut(bench, request, "key");
  expect(ofType(events, "tool-result")[0]?.result).toBe("a fact");
  const replayed = await replayRecord(bench, events, { harness: is, champion: was });
  expect(replayed.divergence).toBeUndefined();
});
