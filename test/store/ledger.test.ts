import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ledger, readLedger } from "../../src/store/ledger.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

async function written(count: number): Promise<string> {
  const file = join(temporary(), "ledger.jsonl");
  const ledger = await Ledger.open(file);
  for (let index = 0; index < count; index++) {
    await ledger.append({ type: "rollout-started", key: `schlüssel-${index}` });
  }
  await ledger.close();
  return file;
}

describe("Ledger", () => {
  it("gives back what was appended, in order, with sequence numbers from 1", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const ledger = await Ledger.open(file);
    await ledger.append({ type: "run-started", run: "demo-0001" });
    const round = await ledger.append({ type: "round-started", round: 1, champion: 0 });
    await ledger.append({
      type: "verdict",
      candidate: "R01-C01",
      verdict: "reject",
      reason: "no",
      numbers: { e: 0.5 },
    });
    await ledger.close();
    expect(round).toMatchObject({ v: 1, seq: 2, round: 1 });
    const view = readLedger(file);
    expect(view.records).toEqual(ledger.records);
    expect(view.records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(view.find("verdict", ({ candidate }) => candidate === "R01-C01")?.numbers).toEqual({ e: 0.5 });
    expect(view.all("committed")).toEqual([]);
  });

  it("keeps the call order of parallel appends and waits for the disk far less often than there are records", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const ledger = await Ledger.open(file);
    const keys = Array.from({ length: 500 }, (_, index) => `k${index}`);
    const records = await Promise.all(keys.map((key) => ledger.append({ type: "rollout-started", key })));
    expect(records.map(({ key, seq }) => [key, seq])).toEqual(keys.map((key, index) => [key, index + 1]));
    expect(
      readLedger(file)
        .all("rollout-started")
        .map(({ key }) => key),
    ).toEqual(keys);
    expect(ledger.syncs).toBeLessThan(10);
    await ledger.close();
  });

  it("has a record on disk once its append resolves, and in memory not before", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const ledger = await Ledger.open(file);
    const first = ledger.append({ type: "run-started", run: "a" });
    expect(ledger.records).toEqual([]);
    await first;
    const second = ledger.append({ type: "run-ended", stopped_by: "rounds" });
    expect(readLedger(file).records[0]).toEqual(ledger.records[0]);
    await second;
    expect(readLedger(file).records).toEqual(ledger.records);
    await ledger.close();
  });

  it("holds in memory exactly what a resumed run will read", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const ledger = await Ledger.open(file);
    await ledger.append({
      type: "screened",
      candidate: "R01-C01",
      passed: true,
      numbers: { a: undefined, b: Number.NaN },
    });
    await ledger.close();
    expect(ledger.all("screened")[0]?.numbers).toEqual({ b: null });
    expect(readLedger(file).records).toEqual(ledger.records);
  });

  it("refuses a record that is none, and goes on without a gap", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const ledger = await Ledger.open(file);
    await expect(ledger.append({ type: "round-started", round: -1, champion: 0 })).rejects.toThrow();
    expect(await ledger.append({ type: "run-started", run: "a" })).toMatchObject({ seq: 1 });
    await ledger.close();
    await expect(ledger.append({ type: "run-started", run: "a" })).rejects.toMatchObject({ code: "infra" });
  });

  it("sets a tail aside that was torn at any byte, and numbers on from the last whole line", async () => {
    const whole = readFileSync(await written(3));
    const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index + 1);
    for (let length = 0; length <= whole.length; length++) {
      const dir = temporary();
      const file = join(dir, "ledger.jsonl");
      writeFileSync(file, whole.subarray(0, length));
      const lines = ends.filter((end) => end <= length);
      expect(readLedger(file).records).toHaveLength(lines.length);
      const ledger = await Ledger.open(file);
      expect(ledger.records).toHaveLength(lines.length);
      expect((await ledger.append({ type: "run-ended", stopped_by: "x" })).seq).toBe(lines.length + 1);
      await ledger.close();
      const torn = whole.subarray(lines.at(-1) ?? 0, length);
      if (torn.length > 0) {
        expect(readFileSync(join(dir, "ledger.torn"))).toEqual(Buffer.concat([torn, Buffer.from("\n")]));
      }
      expect(readLedger(file).records).toHaveLength(lines.length + 1);
    }
  });

  it("sets any garbage after the last whole line aside", async () => {
    const whole = readFileSync(await written(2));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 60 }), async (bytes) => {
        const tail = bytes.filter((byte) => byte !== 0x0a);
        const file = join(temporary(), "ledger.jsonl");
        writeFileSync(file, Buffer.concat([whole, tail]));
        const ledger = await Ledger.open(file);
        await ledger.close();
        expect(ledger.records).toHaveLength(2);
        expect(readFileSync(file)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it("sets a last line aside that ends but is no JSON", async () => {
    const file = await written(2);
    writeFileSync(file, `${readFileSync(file, "utf8")}\0\0\0\0\n`);
    expect(readLedger(file).records).toHaveLength(2);
  });

  it("leaves the file alone when it only reads", async () => {
    const file = await written(1);
    const torn = `${readFileSync(file, "utf8")}{"step":7,"ro`;
    writeFileSync(file, torn);
    readLedger(file);
    expect(readFileSync(file, "utf8")).toBe(torn);
  });

  it("accepts a byte order mark and Windows line ends", async () => {
    const file = await written(2);
    writeFileSync(file, `\ufeff${readFileSync(file, "utf8").replaceAll("\n", "\r\n")}`);
    expect(readLedger(file).records).toHaveLength(2);
  });

  const line = (record: object) => `${JSON.stringify(record)}\n`;
  const started = { v: 1, seq: 1, at: "2024-01-01T00:00:00.000Z", type: "run-started", run: "a" };
  it.each([
    ["a bad line in the middle", `{"v":1,\n${line(started)}`, /line 1 is no ledger record: not JSON/],
    ["an unknown type", line({ ...started, type: "gossip" }), /line 1 is no ledger record/],
    ["an unknown field", line({ ...started, more: 1 }), /line 1 is no ledger record/],
    [
      "a line taken out",
      line(started) + line({ ...started, seq: 3 }),
      /line 2 is no ledger record: seq is 3, not 2/,
    ],
    ["a line twice", line(started) + line(started), /line 2 is no ledger record: seq is 1, not 2/],
    [
      "a newer format",
      line(started) + line({ v: 2, type: "new" }),
      /line 2 has format 2; this lorimer reads 1/,
    ],
  ])("refuses %s, naming the line", async (_name, text, message) => {
    const file = join(temporary(), "ledger.jsonl");
    writeFileSync(file, text);
    await expect(Ledger.open(file)).rejects.toMatchObject({
      code: "infra",
      message: expect.stringMatching(message),
    });
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});
