import { describe, expect, test } from "vitest";
import { renderReplay } from "../../src/checks/replay/render.ts";
import type { Proposal } from "../../src/config/candidate-schema.ts";
import { stockPart } from "../../src/proposers/mechanic/stock.ts";
import { type Desk, openDesk, processorFile, verdictOf } from "./desk.ts";

const desk: Desk = await openDesk();
const records = desk.context.records;
const failing = records.filter(({ scored }) => scored.outcome === "fail");
const passing = records.filter(({ scored }) => scored.outcome === "pass");
/** Failing rollouts that go on to the last step: their result lies past what the model can see. */
const flooded = failing.filter(({ facts }) => facts.repeats.length > 1);

const cite = (step: number): Proposal["evidence"] =>
  flooded.slice(0, 2).map(({ scored, facts }) => ({
    rollout: scored.key,
    step,
    quote: facts.said.find((said) => said.step === step)?.text ?? "",
  }));

function withProcessor(members: string, evidence = desk.evidence, processor = "Probe") {
  const { file, text, entry } = processorFile(members);
  return desk.candidate({
    config: { processors: [entry] },
    files: { [file]: text },
    papers: { lever: "processor", signature: { processor }, evidence },
  });
}

const reasons = async (dir: string) => {
  const validation = await desk.check(dir);
  return { ...verdictOf(validation), report: validation.replay };
};

test("the champion passes and fails, and some failing records are flooded", () => {
  expect(passing.length).toBeGreaterThan(8);
  expect(flooded.length).toBeGreaterThan(2);
});

test("a part that helps passes: it changes failing records, and no passing one to its harm", async () => {
  const dir = desk.candidate({
    config: { processors: [{ _target_: "file://$GENERATION/processors/input-cap.ts::InputCap" }] },
    files: { "processors/input-cap.ts": stockPart("processors", "input-cap") },
    papers: { lever: "processor", signature: { processor: "InputCap" }, evidence: cite(1) },
  });
  const { failed, report } = await reasons(dir);
  expect(failed).toBeUndefined();
  const changed = report?.rows.filter(({ replayed }) => replayed.divergence !== undefined) ?? [];
  expect(changed.length).toBeGreaterThanOrEqual(flooded.length);
  for (const { replayed } of changed) {
    expect(replayed.divergence).toEqual({ step: 0, cause: { kind: "processor", name: "InputCap" } });
    expect(replayed.validUntilStep).toBe(0);
  }
  const text = renderReplay({ rows: report?.rows ?? [], selfShare: 1, findings: [] });
  expect(text).toContain("The champion replays itself on 100 % of its records.");
  expect(text).toContain("| fail | 0 | processor: InputCap |");
  expect(text).not.toContain("says nothing of harm or help");
});

test("of a new prompt it says that every record differs at once, by construction", async () => {
  const dir = desk.candidate({
    files: { "prompts/system.md": 'You help at a desk.\nEnd with one line of the form "DESK <desk>".\n' },
    papers: { lever: "prompt", signature: { knob: "prompt" } },
  });
  const { failed, report } = await reasons(dir);
  expect(failed).toBeUndefined();
  expect(report?.rows[0]?.replayed.divergence?.cause.kind).toBe("prompt");
  expect(renderReplay(report ?? { rows: [], selfShare: 0, findings: [] })).toContain(
    "Every record differs at its first request",
  );
});

describe("refused is", () => {
  test("a processor that changes nothing on any failing record, whatever it says that it does", async () => {
    const members = `async *onStepStart(event) { yield { type: "trigger", action: "helped" }; yield event; }`;
    const { failed, says } = await reasons(withProcessor(members));
    expect(failed).toBe("replay");
    expect(says).toMatch(/^no-op: changes nothing on any of \d+ failing records$/);
  });

  test("a knob that turns nothing", async () => {
    const dir = desk.candidate({
      config: { limits: { max_steps: 6, max_tokens: 199_999 } },
      papers: { lever: "config", signature: { knob: "limits.max_tokens" } },
    });
    expect((await reasons(dir)).says).toMatch(/^no-op: /);
  });

  test("a processor that does something only after the steps that it cites", async () => {
    const members = `async *onAfterTool(event) { yield event.step < 2 ? event : { ...event, result: "x" + event.result }; }`;
    const { failed, says } = await reasons(withProcessor(members, cite(1)));
    expect(failed).toBe("replay");
    expect(says).toBe("never-fires: Probe does nothing up to any of the 2 steps that are cited");
    expect((await reasons(withProcessor(members, cite(3)))).failed).toBeUndefined();
  });

  test("such a processor also where candidate.yaml names another one, or none", async () => {
    const members = `async *onAfterTool(event) { yield event.step < 2 ? event : { ...event, result: "x" + event.result }; }`;
    const { says } = await reasons(withProcessor(members, cite(1), "InputCap"));
    expect(says).toMatch(/^never-fires: Probe/);
  });

  test("one that crashes where no dry fire reached it", async () => {
    const members = `async *onAfterModel(event) { if (event.content.includes("comparable records say")) throw new Error("a crash"); yield event.step < 2 ? event : { ...event, content: event.content + " " }; }`;
    const { failed, says } = await reasons(withProcessor(members, cite(3)));
    expect(failed).toBe("replay");
    expect(says).toMatch(/crash: Probe onAfterModel: .*a crash \(step 1 of rollout /);
  });

  test("one that rewrites a right answer into a wrong one under the same replies", async () => {
    const members = `async *onAfterModel(event) { yield event.toolCalls.length > 0 ? event : { ...event, content: "DESK loans" }; }`;
    const evidence = passing.slice(0, 2).map(({ scored, facts }) => ({
      rollout: scored.key,
      step: facts.steps - 1,
      quote: facts.answer,
    }));
    const { failed, says } = await reasons(withProcessor(members, evidence));
    expect(failed).toBe("replay");
    expect(says).not.toContain("never-fires");
    expect(says).toMatch(/output-hijack: Probe turns a right answer into a wrong one/);
  });

  test("one that lets no request reach the model", async () => {
    const { failed, says } = await reasons(withProcessor("async *onBeforeModel() {}", cite(3)));
    expect(failed).toBe("replay");
    expect(says).toMatch(/echo: the echo task ends with max_steps after 0 requests/);
  });
});

test("ending a passing record earlier is harm for the benchmark to weigh, and no hijack", async () => {
  const dir = desk.candidate({
    config: { limits: { max_steps: 1 } },
    papers: { lever: "config", signature: { knob: "limits.max_steps" } },
  });
  const { says } = await reasons(dir);
  expect(says).not.toContain("hijack");
});
