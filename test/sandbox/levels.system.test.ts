import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFence } from "../../src/sandbox/fence.ts";
import { chooseLevel, fenceLevels, isWeaker, probeLevels } from "../../src/sandbox/levels.ts";
import { toolOf } from "../support/parts.ts";
import { levelsHere } from "./fences.ts";

const here = await levelsHere();
let before: string | undefined;
beforeEach(() => {
  before = process.env["LORIMER_FENCE"];
  delete process.env["LORIMER_FENCE"];
});
afterEach(() => {
  if (before === undefined) delete process.env["LORIMER_FENCE"];
  else process.env["LORIMER_FENCE"] = before;
});

describe("levels", () => {
  it("are probed for real, each with a reason where it does not work", async () => {
    const probes = await probeLevels();
    for (const level of fenceLevels) {
      expect(probes[level].works).toBe(here.includes(level));
      expect(probes[level].reason === undefined).toBe(probes[level].works);
    }
  });

  it("are chosen strongest first, or as LORIMER_FENCE says", async () => {
    expect(await chooseLevel({ weakest: "weak" })).toBe(here[0]);
    for (const level of here) {
      process.env["LORIMER_FENCE"] = level;
      expect(await chooseLevel({ weakest: "full" })).toBe(level);
    }
    process.env["LORIMER_FENCE"] = "strong";
    await expect(chooseLevel({ weakest: "weak" })).rejects.toMatchObject({
      code: "usage",
      hint: "full, partial, weak",
    });
  });

  it("are ordered", () => {
    expect(isWeaker("weak", "partial")).toBe(true);
    expect(isWeaker("full", "partial")).toBe(false);
    expect(isWeaker("full", "full")).toBe(false);
  });
});

describe("a fence weaker than the recipe's minimum", () => {
  it("opens stock parts only, and says what to install", async () => {
    const stock = toolOf("return 'stock'");
    const fence = await createFence({
      level: "weak",
      weakest: "partial",
      stockHashes: new Set([stock.sourceHash]),
    });
    try {
      const parts = await fence.loader.open([stock]);
      expect((await parts.tools[0]?.run({}))?.result).toBe("stock");
      await parts.close();
      await expect(fence.loader.open([stock, toolOf("return 'other'")])).rejects.toMatchObject({
        code: "refused",
        message: expect.stringContaining("tools/part.ts"),
        hint: expect.stringContaining("apt-get install -y bubblewrap"),
      });
    } finally {
      await fence.close();
    }
  });
});
