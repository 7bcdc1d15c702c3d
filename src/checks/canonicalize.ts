import { openHarness } from "../agent/build.ts";
import { PartError } from "../agent/parts.ts";
import { type Bench, sourcesOf } from "../bench/bench.ts";
import { type CandidateFile, candidateSchema, type Proposal } from "../config/candidate-schema.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { type LoadOptions, loadHarness } from "../config/load-harness.ts";
import { readYaml, validateYaml } from "../config/yaml.ts";
import { LorimerError } from "../lib/errors.ts";
import type { Finding } from "./check.ts";
import { checkCodeRules } from "./code-rules.ts";

/** Parses and resolves a candidate's config.yaml and what it names. Nothing of it runs. */
export function loadCandidate(
  dir: string,
  options: LoadOptions,
): { harness: LoadedHarness } | { findings: Finding[] } {
  try {
    const harness = loadHarness(dir, options);
    const sources = new Map(harness.parts.map((part) => [part.file, harness.files.get(part.file) ?? ""]));
    const findings = [...checkCodeRules(sources), ...namesakes(harness)];
    return findings.length > 0 ? { findings } : { harness };
  } catch (error) {
    return { findings: [fromError(error, "canonicalize", dir)] };
  }
}

/** Traces, replay and blame know a processor by the name of its class. */
function namesakes({ parts }: LoadedHarness): Finding[] {
  const processors = parts.filter(({ kind }) => kind === "processor");
  const names = processors.map(({ exportName }) => exportName);
  return processors.flatMap(({ exportName, file }, index): Finding[] =>
    names.indexOf(exportName) === index
      ? []
      : [
          {
            kind: "canonicalize",
            message: `a second processor named ${exportName}: what each does could not be told apart`,
            file,
            hint: "Rename its class.",
          },
        ],
  );
}

/** Reads `_meta_scratch/candidate.yaml`. */
export function loadCandidateFile(dir: string): { file: CandidateFile } | { findings: Finding[] } {
  try {
    return { file: validateYaml(candidateSchema, readYaml(`${dir}/_meta_scratch/candidate.yaml`)) };
  } catch (error) {
    return { findings: [fromError(error, "candidate.yaml", dir)] };
  }
}

/** The proposal in a candidate's directory; undefined when there is none, or none that can be read. */
export function loadProposal(dir: string): Proposal | undefined {
  const read = loadCandidateFile(dir);
  return "file" in read && !("noop" in read.file) ? read.file : undefined;
}

/** Builds every part inside the fence: what cannot be built there is fatal here, not in the benchmark. */
export async function instantiate(harness: LoadedHarness, bench: Bench): Promise<Finding[]> {
  try {
    const { close } = await openHarness(harness, sourcesOf(bench));
    const faults = await close();
    return faults.map((message) => ({ kind: "canonicalize", message }));
  } catch (error) {
    if (error instanceof PartError)
      return [{ kind: "canonicalize", message: error.message, file: error.file }];
    // A fence weaker than the recipe wants opens nothing but stock parts.
    return [fromError(error, "fence", harness.dir)];
  }
}

/** A finding says where inside the candidate; where the candidate lies differs from machine to machine. */
function fromError(error: unknown, kind: string, dir: string): Finding {
  if (!(error instanceof LorimerError) || error.code === "infra") throw error;
  return { kind, message: error.message.replaceAll(`${dir}/`, ""), hint: error.hint };
}
