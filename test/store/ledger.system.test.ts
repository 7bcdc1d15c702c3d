import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Ledger, readLedger } from "../../src/store/ledger.ts";
import { runNode, startNode } from "./children.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

const open = (file: string) => `
const { Ledger } = await import(store + "/ledger.js");
const { writeSync } = await import("node:fs");
const ledger = await Ledger.open(${JSON.stringify(file)});`;

describe("the ledger", () => {
  it("has every acknowledged record after kill -9, again and again", async () => {
    const file = join(temporary(), "ledger.jsonl");
    let known = 0;
    for (let round = 0; round < 5; round++) {
      const child = startNode(`${open(file)}
        for (;;) {
          const records = await Promise.all(
            Array.from({ length: 20 }, (_, key) => ledger.append({ type: "rollout-started", key: "k".repeat(key * 50) })),
          );
          writeSync(1, records.at(-1).seq + "\\n");
        }`);
      await child.shows(new RegExp(`(\\d+\n){${3 + 2 * round}}`));
      await child.kill();
      const acknowledged = Number(/(\d+)\n[^\n]*$/.exec(child.output())?.[1]);
      const ledger = await Ledger.open(file);
      expect(ledger.records.length).toBeGreaterThanOrEqual(acknowledged);
      expect(acknowledged).toBeGreaterThan(known);
      expect(ledger.records.map(({ seq }) => seq)).toEqual(ledger.records.map((_, index) => index + 1));
      known = ledger.records.length;
      await ledger.close();
    }
  });

  it("stops cleanly on a full disk, keeps what it has, and goes on when there is room again", async () => {
    const file = join(temporary(), "ledger.jsonl");
    const output = await runNode(
      `${open(file)}
        process.on("SIGXFSZ", () => {});
        let done = 0;
        try {
          for (;;) { await ledger.append({ type: "rollout-started", key: "k".repeat(100) }); done++; }
        } catch (error) {
          const later = await ledger.append({ type: "run-ended", stopped_by: "x" }).catch((again) => again.code);
          console.log(JSON.stringify([done, ledger.records.length, error.code, error.message, error.hint, later]));
        }`,
      { prefix: ["prlimit", "--fsize=5000"] },
    );
    const [done, inMemory, code, message, hint, later] = JSON.parse(output);
    expect(done).toBeGreaterThan(10);
    expect([inMemory, code, later]).toEqual([done, "infra", "infra"]);
    expect(message).toContain(`cannot write ${file}: EFBIG`);
    expect(hint).toContain("--resume");
    const torn = readFileSync(file).length;
    expect(readLedger(file).records).toHaveLength(done);
    const ledger = await Ledger.open(file);
    expect(readFileSync(file).length).toBeLessThan(torn);
    expect((await ledger.append({ type: "run-ended", stopped_by: "rounds" })).seq).toBe(done + 1);
    await ledger.close();
  });
});
