import type { RunManifest } from "../../src/store/run-folder.ts";

/** What a run in these tests was started with. */
export const manifest: Omit<RunManifest, "v" | "id" | "created"> = {
  recipe: { name: "demo", dir: "/recipes/demo", hash: "r" },
  resources_hash: "s",
  runtime: "t",
  seed: 7,
  model: { kind: "sim", name: "lorimer-sim" },
  fence: "full",
  splits: { evolve: ["e1"], gate: ["g1"], test: [] },
  task_set_hash: "u",
  options: { rounds: 3 },
};
