import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runHook } from "../../src/agent/dispatch.ts";
import type { HookEvents, HookName } from "../../src/agent/hooks.ts";
import type { OpenParts } from "../../src/agent/parts.ts";
import { loadTasks } from "../../src/bench/tasks.ts";
import { checkCodeRules } from "../../src/checks/code-rules.ts";
import { checkLiterals } from "../../src/checks/literals/check-literals.ts";
import { buildLiteralCorpus } from "../../src/checks/literals/corpus.ts";
import type { AuthoredPart } from "../../src/config/harness.ts";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import { packageRoot } from "../../src/lib/package-root.ts";
import { stockHashes, stockPart } from "../../src/proposers/mechanic/stock.ts";
import { createFence, type Fence } from "../../src/sandbox/fence.ts";
import type { TraceEvent } from "../../src/trace/events.ts";
import type { Message } from "../../src/trace/messages.ts";
import { libraryDesk } from "../support/library-desk.ts";
import { authored } from "../support/parts.ts";

const parts = {
  InputCap: ["processors", "input-cap"],
  FinishNudge: ["processors", "finish-nudge"],
  RepeatGuard: ["processors", "repeat-guard"],
  ToolErrorTail: ["processors", "tool-error-tail"],
  similar_records: ["tools", "similar-records"],
  find_in_records: ["tools", "find-in-records"],
} as const;

function stock(name: keyof typeof parts, options: Record<string, unknown> = {}): AuthoredPart {
  const [folder, file] = parts[name];
  return authored(folder === "tools" ? "tool" : "processor", stockPart(folder, file), name, options);
}

const noResources = join(packageRoot, "test/fixtures/recipes/library-desk/baseline/prompts");
let fence: Fence;
let bare: Fence;
beforeAll(async () => {
  const stockOnly = { weakest: "partial", stockHashes: stockHashes() } as const;
  fence = await createFence({ ...stockOnly, resources: join(libraryDesk, "resources") });
  bare = await createFence({ ...stockOnly, resources: noResources });
});
afterAll(async () => {
  await fence.close();
  await bare.close();
});

/** Opens a part for one rollout, uses it, and expects that it leaves nothing behind. */
async function using<Result>(part: AuthoredPart, use: (open: OpenParts) => Promise<Result>, on = fence) {
  const open = await on.loader.open([part]);
  const result = await use(open);
  expect(await open.close()).toEqual([]);
  return result;
}

async function run(part: AuthoredPart, input: Record<string, unknown>, on = fence) {
  return await using(part, async ({ tools }) => await tools[0]?.run(input), on);
}

/** One hook of an opened processor under the contract; `sink` gets what it says that it did. */
async function fire<Hook extends HookName>(
  { processors }: OpenParts,
  hook: Hook,
  event: HookEvents[Hook],
  sink: (event: TraceEvent) => void = () => {},
) {
  return await runHook(hook, event, { processors, policy: "fail-task", sink, step: 0 });
}

test("every stock part is named here", () => {
  const root = join(packageRoot, "src/proposers/mechanic/parts");
  const files = ["processors", "tools"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
  );
  expect(files.sort()).toEqual(
    Object.values(parts)
      .map(([folder, file]) => `${folder}/${file}.ts`)
      .sort(),
  );
});

test("stock parts pass the code rules and name no task of any recipe", async () => {
  const files = new Map(
    Object.values(parts).map(([folder, file]) => [`${folder}/${file}.ts`, stockPart(folder, file)]),
  );
  expect(checkCodeRules(files)).toEqual([]);
  for (const dir of [libraryDesk, join(packageRoot, "recipes/inbox-triage")]) {
    const recipe = loadRecipe(dir);
    const { tasks } = await loadTasks(recipe, { seed: 1 });
    expect(checkLiterals({ files, corpus: buildLiteralCorpus(tasks, []) })).toEqual([]);
    const { name, trigger, decisions, inputs } = recipe.recipe.spec ?? {};
    const words = [name, trigger, ...Object.keys(decisions ?? {}), ...(inputs ?? [])]
      .flatMap((text) => text?.toLowerCase().match(/[a-z]{4,}/g) ?? [])
      .filter((word) => !["item", "message", "body", "came"].includes(word));
    for (const [file, text] of files) {
      for (const word of words)
        expect(`${file}: ${text.toLowerCase()}`).not.toMatch(new RegExp(`\\b${word}\\b`));
    }
  }
});

describe("ToolErrorTail", () => {
  const call = { id: "1", name: "shell", input: {} };
  const delivered = (isError: boolean, result: string) =>
    ({ type: "after-tool", step: 0, call, isError, result }) as const;

  test("repeats the end of an error, where the cause stands, and leaves good results alone", async () => {
    await using(stock("ToolErrorTail"), async (open) => {
      const long = `${"x".repeat(300)}\n${" ".repeat(20)}the cause\n`;
      const changed = await fire(open, "onAfterTool", delivered(true, long));
      expect(changed?.result).toBe(`${long}\n\n[tail] ${long.slice(-200).trim()}`);
      expect((await fire(open, "onAfterTool", delivered(true, "boom")))?.result).toBe("boom\n\n[tail] boom");
      expect((await fire(open, "onAfterTool", delivered(false, long)))?.result).toBe(long);
      expect((await fire(open, "onAfterTool", delivered(true, " \n ")))?.result).toBe(" \n ");
    });
  });

  test("takes its length as an option", async () => {
    const part = stock("ToolErrorTail", { tail_chars: 50 });
    const changed = await using(part, (open) => fire(open, "onAfterTool", delivered(true, "y".repeat(90))));
    expect(changed?.result).toBe(`${"y".repeat(90)}\n\n[tail] ${"y".repeat(50)}`);
  });
});

describe("FinishNudge", () => {
  const said = (content: string, step = 0) =>
    ({ type: "after-model", step, maxSteps: 8, finishReason: "stop", content, toolCalls: [] }) as const;
  const options = { must_match: "DESK \\w+", reminder: "End with the line.", most: 2 };
  const request = (messages: Message[]) =>
    ({ type: "before-model", step: 1, maxSteps: 8, tools: [], messages }) as const;
  const task: Message = { role: "user", content: "A task" };

  test("sends an answer without the form back, as often as it may and no more", async () => {
    await using(stock("FinishNudge", options), async (open) => {
      expect(await fire(open, "onAfterModel", said("rooms"))).toBeUndefined();
      const reminded = await fire(open, "onBeforeModel", request([task]));
      expect(reminded?.messages).toEqual([{ role: "user", content: "A task\n\nEnd with the line." }]);
      expect((await fire(open, "onBeforeModel", request([task])))?.messages).toEqual([task]);
      expect(await fire(open, "onAfterModel", said("rooms"))).toBeUndefined();
      expect((await fire(open, "onAfterModel", said("rooms")))?.content).toBe("rooms");
    });
  });

  test("adds its reminder as a message where the last one is not the user's", async () => {
    await using(stock("FinishNudge", options), async (open) => {
      const call = { id: "1", name: "shell", input: {} };
      const messages: Message[] = [
        task,
        { role: "assistant", content: "", toolCalls: [call] },
        { role: "tool", toolCallId: "1", name: "shell", content: "fine" },
      ];
      await fire(open, "onAfterModel", said("rooms"));
      const reminded = await fire(open, "onBeforeModel", request(messages));
      expect(reminded?.messages).toEqual([...messages, { role: "user", content: "End with the line." }]);
    });
  });

  test("leaves alone an answer of the form, a call, and the last reply that there can be", async () => {
    await using(stock("FinishNudge", options), async (open) => {
      expect(await fire(open, "onAfterModel", said("DESK rooms"))).toBeDefined();
      const calling = { ...said("x"), toolCalls: [{ id: "1", name: "shell", input: {} }] };
      expect(await fire(open, "onAfterModel", calling)).toBeDefined();
      expect((await fire(open, "onAfterModel", said("rooms", 7)))?.content).toBe("rooms");
    });
  });

  test("cannot be built with a pattern that is none", async () => {
    await expect(fence.loader.open([stock("FinishNudge", { must_match: "(" })])).rejects.toThrow(
      /regular expression/i,
    );
  });
});

describe("InputCap", () => {
  const system: Message = { role: "system", content: "Be good." };
  const row = '<tr><td class="x">&nbsp;</td></tr>\n';
  const long = `A question on rooms.\n${row.repeat(100)}Thank you`;
  const start = (messages: Message[], step = 0) =>
    ({ type: "step-start", step, maxSteps: 8, messages }) as const;
  const request = (messages: Message[], step = 0) =>
    ({ type: "before-model", step, maxSteps: 8, tools: [], messages }) as const;
  const content = (messages: readonly Message[] | undefined) => messages?.at(-1)?.content ?? "";

  test("takes the markup out of a long task, at the first step, under the contract", async () => {
    await using(stock("InputCap"), async (open) => {
      const done: TraceEvent[] = [];
      const task: Message = { role: "user", content: long };
      const started = await fire(open, "onStepStart", start([system, task]), (event) => done.push(event));
      expect(content(started?.messages)).toBe("A question on rooms.\nThank you");
      expect(done).toMatchObject([{ processor: "InputCap", action: "shortened" }]);
    });
  });

  test("cuts once: what it has cut fits, and is the same at the next hook", async () => {
    await using(stock("InputCap", { max_chars: 300 }), async (open) => {
      const task: Message = { role: "user", content: "word ".repeat(1000) };
      const started = await fire(open, "onStepStart", start([system, task]));
      const cut = content(started?.messages);
      expect(cut.length).toBeLessThanOrEqual(300);
      expect(cut).toMatch(/\n\[cut: 47\d\d more characters\]$/);
      const sent = await fire(open, "onBeforeModel", request([...(started?.messages ?? [])]));
      expect(content(sent?.messages)).toBe(cut);
    });
  });

  test("leaves later steps, short tasks and all but a last user message alone", async () => {
    await using(stock("InputCap"), async (open) => {
      const call = { id: "1", name: "shell", input: {} };
      const messages: Message[] = [
        system,
        { role: "user", content: long },
        { role: "assistant", content: "", toolCalls: [call] },
        { role: "tool", toolCallId: "1", name: "shell", content: long },
      ];
      expect((await fire(open, "onStepStart", start(messages, 1)))?.messages).toEqual(messages);
      expect((await fire(open, "onBeforeModel", request(messages, 1)))?.messages).toEqual(messages);
      const short: Message[] = [{ role: "user", content: "<b>short</b> x=20" }];
      expect((await fire(open, "onStepStart", start(short)))?.messages).toEqual(short);
    });
  });

  test("decodes quoted-printable text only where it is that", async () => {
    await using(stock("InputCap"), async (open) => {
      const sums = `n=42 and m=20\n${row.repeat(60)}`;
      const plain = await fire(open, "onStepStart", start([{ role: "user", content: sums }]));
      expect(content(plain?.messages)).toContain("n=42 and m=20");
      const quoted = `Gr=FC=DFe =0Aaus dem=\n Norden =\nund S=FCden\n${row.repeat(60)}`;
      const decoded = await fire(open, "onStepStart", start([{ role: "user", content: quoted }]));
      expect(content(decoded?.messages)).toContain("Grüße aus dem Norden und Süden");
    });
  });

  test("is quick on text made to be slow, and never leaves half a character", async () => {
    await using(stock("InputCap", { max_chars: 300 }), async (open) => {
      for (const text of [
        "<style".repeat(40_000),
        "\u00a0".repeat(200_000),
        "<".repeat(200_000),
        "\n ".repeat(90_000),
      ]) {
        const cut = await fire(open, "onStepStart", start([{ role: "user", content: text }]));
        expect(content(cut?.messages).length).toBeLessThanOrEqual(300);
      }
      const bees = await fire(
        open,
        "onStepStart",
        start([{ role: "user", content: `a${"🐝".repeat(400)}` }]),
      );
      expect(content(bees?.messages)).not.toMatch(/\p{Cs}/u);
    });
  });
});

test("RepeatGuard marks the result of a call that was made before, and keeps the result", async () => {
  await using(stock("RepeatGuard"), async (open) => {
    const result = async (input: Record<string, unknown>) => {
      const call = { id: "1", name: "shell", input };
      const event = { type: "after-tool", step: 0, call, isError: false, result: "fine" } as const;
      return (await fire(open, "onAfterTool", event))?.result;
    };
    expect(await result({ text: "a" })).toBe("fine");
    expect(await result({ text: "b" })).toBe("fine");
    expect(await result({ text: "a" })).toMatch(/^\[the same call was made 1 times before.*\]\nfine$/);
    expect(await result({ text: "a" })).toMatch(/^\[the same call was made 2 times before/);
  });
});

describe("similar_records", () => {
  test("shows the records most like a text, labels first, in a few short lines", async () => {
    const found = await run(stock("similar_records"), { text: "may I book the study room on Thursday" });
    const lines = found?.result.split("\n") ?? [];
    expect(found?.isError).toBe(false);
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^1\. likeness 0\.\d\d \| desk: rooms \| message: /);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(400);
  });

  test("says so where nothing is alike, and where there are no records", async () => {
    expect(await run(stock("similar_records"), { text: "qqqq zzzz" })).toEqual({
      result: "[similar_records failed: no past record is like this text]",
      isError: true,
    });
    expect(await run(stock("similar_records"), { text: "a room" }, bare)).toEqual({
      result: "[similar_records failed: there are no past records]",
      isError: true,
    });
  });
});

describe("find_in_records", () => {
  test("shows the lines that hold a phrase, with the phrase in them, and how many more there are", async () => {
    const found = await run(stock("find_in_records"), { phrase: "DESK" });
    const lines = found?.result.split("\n") ?? [];
    expect(lines).toHaveLength(11);
    expect(lines[0]).toMatch(/^answered\.jsonl:1: .*"desk": "loans"/);
    expect(lines[10]).toBe("[32 more lines hold it]");
  });

  test("says so where nothing does", async () => {
    expect(await run(stock("find_in_records"), { phrase: "no such words" })).toEqual({
      result: '[find_in_records failed: nothing holds "no such words"]',
      isError: true,
    });
    expect((await run(stock("find_in_records"), { phrase: "x" }))?.result).toMatch(/failed: input\.phrase/);
  });
});
