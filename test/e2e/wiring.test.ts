import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunSummary } from "../../src/report/summary.ts";
import { json, temporaryFolders } from "./support/lorimer.ts";
import { copyInboxTriage } from "./support/recipe-copy.ts";

const temporary = temporaryFolders();

// Whoever names the answer form alone gets about half of the mails right: there are as many of each label.
test.concurrent.each(["none", "shuffled"])(
  "with %s of the history's labels the gain is no more than the answer form's",
  async (history) => {
    const dir = temporary();
    const recipe = copyInboxTriage(dir, ["lorimer", "@stdlib"], (text) =>
      text.replace("history: full", `history: ${history}`).replace("memoriser: true", "memoriser: false"),
    );
    const summary = await json<RunSummary>(["evolve", recipe, "--runs", join(dir, "runs")]);
    expect(summary.baseline?.score).toBeLessThanOrEqual(0.15);
    expect(summary.champion?.score).toBeGreaterThan(0.4);
    expect(summary.champion?.score).toBeLessThanOrEqual(0.6);
    expect(summary.levers.tool ?? 0).toBe(0);
  },
);
