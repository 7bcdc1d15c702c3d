import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { type Random, seededRandom } from "../../../src/lib/random.ts";

// A lending desk: tools come back, and go to the repair bench or onto the shelf. Nothing here is about mail.
const things = ["ladder", "drill", "tent", "kettle", "saw", "canoe", "projector", "wheelbarrow", "amplifier"];
const parts = ["handle", "hinge", "cable", "blade", "strap", "lid", "frame", "switch", "wheel"];
const places = ["the school", "the choir", "the allotment", "the museum", "the rowing club", "the theatre"];
const signs = {
  repair: [
    "cracked",
    "leaking",
    "bent",
    "jammed",
    "frayed",
    "wobbling",
    "rusted",
    "torn",
    "burnt",
    "missing",
  ],
  shelf: ["clean", "polished", "complete", "sharp", "oiled", "tight", "dry", "tidy", "charged", "folded"],
};
type Lane = keyof typeof signs;

/** The markup that some notes drown in: past 3,000 characters, so that what follows is out of the model's sight. */
const padding = `\n${'<td class="slot" align="left">&nbsp;</td>\n'.repeat(110)}`;

const recipe = {
  name: "lending-desk",
  tasks: { file: "tasks.jsonl", group: "batch" },
  splits: { evolve: 24, gate: 32, test: 12, seed: 5 },
  evaluator: { kind: "eval_gate" },
  spec: {
    name: "lending desk",
    trigger: "a thing came back",
    inputs: ["note", "ledger"],
    decisions: { lane: { options: ["repair", "shelf"] } },
    writeback: "desk/log.jsonl",
    eval_gate: { max_iters: 6 },
    allowlist: ["*"],
  },
  resources: "resources",
  models: { agent: { kind: "sim", compliance: 0.95 } },
  budgets: { rounds: 5, candidates: 4, patience: 2, alpha: 0.5, scoring_passes: 2 },
  controls: { null_every: 3, memoriser: false },
};

/**
 * Writes a recipe of 72 short tasks to `dir`, on which an evolution takes seconds: answer form, tool and processor are
 * each needed, as in the large one. `changes` replace fields of recipe.yaml.
 */
export function writeTinyRecipe(dir: string, changes: Record<string, unknown> = {}): string {
  const random = seededRandom("lending desk");
  const tasks = Array.from({ length: 72 }, (_, index) => {
    const lane: Lane = index % 2 === 0 ? "repair" : "shelf";
    const note = noteOf(lane, random) + (index % 8 < 2 ? padding : "");
    return { id: `return-${index}`, input: { note }, expected: `LANE ${lane}`, batch: `b${index >> 1}` };
  });
  const history = Array.from({ length: 80 }, (_, index) => {
    const lane: Lane = index % 2 === 0 ? "repair" : "shelf";
    return { lane, note: noteOf(lane, random) };
  });
  const files = {
    "recipe.yaml": stringify({ ...recipe, ...changes }),
    "tasks.jsonl": lines(tasks),
    "resources/history.jsonl": lines(history),
    "baseline/config.yaml": stringify({
      prompt: "file://$GENERATION/prompts/system.md",
      tools: { builtin: ["Read"] },
      limits: { max_steps: 8 },
    }),
    "baseline/prompts/system.md": "You help at a lending desk.\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

/** Three signs, one of twenty of the other lane's: likeness tells most notes, and not all. */
function noteOf(lane: Lane, random: Random): string {
  const other: Lane = lane === "repair" ? "shelf" : "repair";
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  const sign = () => pick(signs[random() < 0.95 ? lane : other]);
  return `The ${pick(things)} from ${pick(places)}: ${pick(parts)} ${sign()}, ${pick(parts)} ${sign()}, all in all ${sign()}.`;
}

function lines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
