import type { HarnessConfig } from "./harness-schema.ts";

/** One authored file that a config names, transformed and ready for the fence. */
export interface AuthoredPart {
  kind: "tool" | "processor";
  /** Relative to the generation's folder, with forward slashes: `tools/similar-records.ts`. */
  file: string;
  exportName: string;
  /** CommonJS text after the transform: what is checked is what runs. */
  code: string;
  /** sha256 of `code`. */
  codeHash: string;
  /** sha256 of the source file, end-of-line normalised: stock parts are known by it. */
  sourceHash: string;
  /** Options from config.yaml; processors only. */
  options: Record<string, unknown>;
}

export interface Skill {
  name: string;
  /** One line, shown in the prompt. */
  description: string;
  text: string;
}

/** A harness config read from its folder, every file that it names resolved; nothing of it has run yet. */
export interface LoadedHarness {
  /** The folder of config.yaml, real path. */
  dir: string;
  config: HarnessConfig;
  /** The system prompt's text, end-of-line normalised. */
  prompt: string;
  skills: Skill[];
  /** Processors in list order, then tools in list order. */
  parts: AuthoredPart[];
  /** Every file that the config names, by path relative to `dir`, end-of-line normalised; config.yaml is not among them. */
  files: Map<string, string>;
  /** The canonical config.yaml: stable bytes. */
  canonical: string;
  generationHash: string;
  behaviourHash: string;
}
