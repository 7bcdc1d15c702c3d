import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkLever, checkNovelty } from "../../src/checks/lever.ts";
import type { EarlierTry } from "../../src/checks/subject.ts";
import { diffHarness } from "../../src/config/diff.ts";
import type { LoadedHarness } from "../../src/config/harness.ts";
import type { Lever } from "../../src/config/harness-schema.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { contextOf, proposalOf, subjectOf, writeFiles } from "./papers.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-lever-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const guard = `import { Processor } from "lorimer/processors";
export class Guard extends Processor {
  static override order = 21;
}
`;
const look = `import { tool } from "lorimer/tools";
import { z } from "zod";
export const look = tool({ description: "Looks.", input: z.object({}), async run() { return "fine"; } });
`;
const champion = load({
  "config.yaml":
    "prompt: Be good.\nprocessors:\n  - _target_: file://$GENERATION/processors/guard.ts::Guard\n",
  "processors/guard.ts": guard,
});

function load(files: Record<string, string>): LoadedHarness {
  const dir = mkdtempSync(join(scratch, "harness-"));
  writeFiles(dir, files);
  return loadHarness(dir);
}

const withGuard = (config: string, file = "processors/guard.ts", text = guard) =>
  load({
    "config.yaml": `${config}processors:\n  - _target_: file://$GENERATION/${file}::Guard\n`,
    [file]: text,
    "tools/look.ts": look,
  });

describe("one lever a candidate:", () => {
  const touched = (harness: LoadedHarness, lever: Lever) =>
    checkLever(
      subjectOf({
        proposal: proposalOf({ lever }),
        leversTouched: diffHarness(champion, harness).leversTouched,
      }),
    ).map(({ message }) => message);

  const tool = "tools: { custom: [file://$GENERATION/tools/look.ts::look] }\n";

  test("the one that it names passes", () => {
    expect(touched(withGuard("prompt: Be better.\n"), "prompt")).toEqual([]);
    expect(touched(withGuard("prompt: Be good.\nlimits: { max_steps: 9 }\n"), "config")).toEqual([]);
    expect(touched(withGuard(`prompt: Be good.\n${tool}`), "tool")).toEqual([]);
    expect(touched(load({ "config.yaml": "prompt: Be good.\n" }), "processor")).toEqual([]);
  });

  test("another one is refused", () => {
    expect(touched(withGuard("prompt: Be better.\n"), "config")).toEqual([
      "names the lever config but changes prompt",
    ]);
  });

  test("two are refused, whichever is named", () => {
    const both = withGuard(`prompt: Be better.\n${tool}`);
    for (const lever of ["tool", "prompt", "config"] as const)
      expect(touched(both, lever)).toEqual([`names the lever ${lever} but changes tool and prompt`]);
  });
});

describe("novelty", () => {
  const check = (harness: LoadedHarness, earlier: EarlierTry[] = [], parent = "gen/0000") =>
    checkNovelty(
      subjectOf({ harness, proposal: proposalOf({ parent }) }),
      contextOf({ champion, championName: "gen/0000", earlier }),
    ).map(({ kind, message }) => `${kind}: ${message}`);

  test.each([
    ["the very same", champion],
    ["a comment more", withGuard("# a comment\nprompt: Be good. # and one\n")],
    ["other white space", withGuard("prompt:   'Be good.'\n\n\n")],
    ["keys in another order", withGuard("limits: {}\ntools: {}\nprompt: Be good.\nskills: []\n")],
    [
      "the prompt in a file",
      load({
        "config.yaml":
          "prompt: file://$GENERATION/prompts/p.md\nprocessors:\n  - _target_: file://$GENERATION/processors/guard.ts::Guard\n",
        "prompts/p.md": "Be good.\n",
        "processors/guard.ts": guard,
      }),
    ],
    ["another file name", withGuard("prompt: Be good.\n", "processors/other-name.ts")],
    [
      "comments and white space in code",
      withGuard(
        "prompt: Be good.\n",
        "processors/guard.ts",
        `// better\n${guard.replaceAll("  ", "\t")}/* end */\n`,
      ),
    ],
  ])("refuses what changes nothing: %s", (_name, harness) => {
    expect(check(harness)).toEqual(["no-op: behaves exactly as the champion does"]);
  });

  test("lets a change pass, and refuses it again on the same champion, whatever it is called", () => {
    const changed = withGuard("prompt: Be better.\n");
    expect(check(changed)).toEqual([]);
    const earlier = [
      { candidate: "R01-C01", behaviour: changed.behaviourHash, outcome: "ended by the screen" },
    ];
    const renamed = withGuard("# quite another idea\nprompt: Be better.\n", "processors/new-idea.ts");
    expect(check(renamed, earlier)).toEqual([
      "novelty: is R01-C01 again, on the same champion (ended by the screen)",
    ]);
    expect(check(withGuard("prompt: Be best.\n"), earlier)).toEqual([]);
  });

  test("refuses a parent that is not the champion", () => {
    expect(check(withGuard("prompt: Be better.\n"), [], "gen/0003")).toEqual([
      "novelty: its parent is gen/0003, the champion is gen/0000",
    ]);
  });
});
