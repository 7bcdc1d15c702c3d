import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { oneLine } from "../trace/plain-text.ts";
import {
  type CommitMessage,
  commitStream,
  dateOf,
  messageText,
  tagStream,
  trailersOf,
} from "./commit-stream.ts";
import { writeExport } from "./export-tree.ts";
import { type Generation, generationTag, readFiles, readHistory } from "./generation-history.ts";
import { clearStaleLocks, git, initRepository } from "./git.ts";
import type { LedgerRecordOf } from "./ledger-records.ts";
import { treeHash } from "./tree-hash.ts";

export interface GenerationCommit extends CommitMessage {
  /** 0 for the baseline; else one more than the newest. */
  number: number;
  /** The whole tree, config.yaml and .lorimer/ among it. */
  files: ReadonlyMap<string, string>;
}

export interface RejectedCommit extends CommitMessage {
  files: ReadonlyMap<string, string>;
  /** The generation that the candidate changes. */
  parent: number;
}

/**
 * Opens the repository of a run's generations. The holder of the run's lock opens it to write: it is created where there is
 * none, and what a kill left half done is finished. Everyone else opens it read-only.
 * @throws LorimerError `infra` (no git, a damaged repository), `missing` when there is none to read
 */
export async function openGenerations(
  dir: string,
  options: { readOnly?: boolean } = {},
): Promise<Generations> {
  const exists = existsSync(join(dir, ".git"));
  if (options.readOnly) {
    if (!exists) throw new LorimerError("missing", `no generations yet in ${dir}`);
    return new Generations(dir, (await readHistory(dir)).list);
  }
  if (exists) await clearStaleLocks(dir, existsSync(checkoutMark(dir)));
  else await createRepository(dir);
  const { list, tags } = await readHistory(dir);
  await finishCheckout(dir, list);
  for (const { number, commit } of list) {
    if (!tags.has(generationTag(number))) await tag(dir, number, commit);
  }
  return new Generations(dir, list);
}

/** Made beside its place and renamed into it: git never sees half a repository, in which it would look further up. */
async function createRepository(dir: string): Promise<void> {
  const temporary = `${dir}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    mkdirSync(temporary, { recursive: true });
    await initRepository(temporary);
    // For a person's own git in here; lorimer's carries its settings with each command.
    appendFileSync(join(temporary, ".git/config"), "[core]\n\tautocrlf = false\n[gc]\n\tauto = 0\n");
    mkdirSync(join(temporary, ".git/info"), { recursive: true });
    writeFileSync(
      join(temporary, ".git/info/attributes"),
      "* -text !eol -ident -filter -working-tree-encoding\n",
    );
    renameSync(temporary, dir);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (error instanceof LorimerError) throw error;
    throw new LorimerError("infra", `cannot create ${dir}: ${messageOf(error)}`, { cause: error });
  }
}

/** A git repository with one commit and tag per accepted generation. One writer; reads may run beside it. */
export class Generations {
  readonly dir: string;
  readonly #list: Generation[];
  readonly #queue = pLimit(1);

  /** Use `openGenerations`. */
  constructor(dir: string, list: readonly Generation[]) {
    this.dir = dir;
    this.#list = [...list];
  }

  /** The generations, from 0 without a gap. */
  list(): readonly Generation[] {
    return this.#list;
  }

  /**
   * Commits, tags and checks out a generation. Equal generations get equal commits. One that is there already (same number,
   * same Candidate-Hash) is returned as it is.
   * @throws LorimerError `infra` when another one has that number, or when a person changed the repository
   */
  commitGeneration(request: GenerationCommit): Promise<Generation> {
    return this.#queue(async () => {
      const known = this.#list[request.number];
      if (known) return sameGeneration(this.dir, known, request);
      if (request.number !== this.#list.length) {
        throw new LorimerError(
          "infra",
          `generation ${request.number} cannot follow generation ${this.#list.length - 1} in ${this.dir}`,
        );
      }
      await this.#assertUntouched();
      return await this.#commit(request);
    });
  }

  async #commit(request: GenerationCommit): Promise<Generation> {
    const { number, files, subject } = request;
    const { Generation: _, ...others } = request.trailers;
    const message = { ...request, trailers: { Generation: String(number), ...others } };
    const stream = commitStream({
      ref: "refs/heads/main",
      parent: this.#list.at(-1)?.commit,
      message,
      files,
      date: dateOf(number),
      tag: generationTag(number),
    });
    writeFileSync(checkoutMark(this.dir), "");
    const commit = (await git(this.dir, ["fast-import", "--quiet"], stream)).trim();
    const trailers = trailersOf(messageText(message));
    const generation = { number, commit, tree: treeHash(files), subject: oneLine(subject, 72), trailers };
    this.#list.push(generation);
    await git(this.dir, ["reset", "--hard", "refs/heads/main"]);
    rmSync(checkoutMark(this.dir), { force: true });
    return generation;
  }

  /**
   * Keeps a rejected candidate under `refs/candidates/<candidate>`, beside main and without a checkout. Again: no change.
   * @returns the commit
   */
  recordRejected(candidate: string, request: RejectedCommit): Promise<string> {
    return this.#queue(async () => {
      if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(candidate)) {
        throw new LorimerError("refused", `${JSON.stringify(candidate)} is no candidate's id`);
      }
      const stream = commitStream({
        ref: `refs/candidates/${candidate}`,
        parent: this.#byNumber(request.parent).commit,
        message: request,
        files: request.files,
        date: dateOf(request.parent),
      });
      return (await git(this.dir, ["fast-import", "--quiet"], stream)).trim();
    });
  }

  /** The files of a generation, by number or by anything that git can name. Throws `missing` when there is none. */
  async readTree(which: number | string): Promise<Map<string, string>> {
    return await readFiles(this.dir, await this.#treeOf(which));
  }

  /**
   * A read-only copy of a generation's files in `<exportsDir>/<tree hash>`; one that is there and intact is used again.
   * @returns its path
   */
  async exportTree(which: number | string, exportsDir: string): Promise<string> {
    const tree = await this.#treeOf(which);
    return await writeExport(join(exportsDir, tree), () => readFiles(this.dir, tree));
  }

  /**
   * Compares git with the ledger's `committed` records.
   * @returns generations that were committed just before a kill, before the ledger could say so: they are to be recorded
   * @throws LorimerError `infra` naming both sides of any other difference
   */
  async verify(committed: readonly LedgerRecordOf<"committed">[]): Promise<{ adopt: Generation[] }> {
    for (const record of committed) {
      const found = this.#list[record.generation]?.commit;
      if (found === record.commit) continue;
      const there = found === undefined ? "git does not have it" : `git has commit ${found.slice(0, 12)}`;
      throw this.#disagreement(
        `the ledger has generation ${record.generation} as commit ${record.commit.slice(0, 12)}, ${there}`,
      );
    }
    const recorded = new Set(committed.map((record) => record.generation));
    const adopt = this.#list.filter(({ number }) => !recorded.has(number));
    const newest = this.#list.length - 1;
    if (adopt.length > 1 || (adopt[0] && adopt[0].number !== newest)) {
      const numbers = adopt.map(({ number }) => number).join(", ");
      throw this.#disagreement(`git has generations ${numbers}, the ledger does not`);
    }
    await this.#assertTags();
    await this.#assertUntouched();
    return { adopt };
  }

  async #assertTags(): Promise<void> {
    const { tags } = await readHistory(this.dir);
    for (const [name, commit] of tags) {
      const generation = this.#list.find(({ number }) => generationTag(number) === name);
      if (generation?.commit === commit) continue;
      const main = generation ? `main has ${generation.commit.slice(0, 12)}` : "main does not have it";
      throw this.#disagreement(`tag ${name} is commit ${commit.slice(0, 12)}, ${main}`);
    }
  }

  #disagreement(what: string): LorimerError {
    return new LorimerError("infra", `ledger and git disagree about ${this.dir}: ${what}`, {
      hint:
        "The ledger is right. Put main and its tags back (`git reflog main` shows where they were), " +
        "or start a new run.",
    });
  }

  /** What a person did in the repository is never overwritten. */
  async #assertUntouched(): Promise<void> {
    const status = await git(this.dir, [
      "status",
      "--porcelain=v2",
      "--branch",
      "--untracked-files=all",
      "--no-renames",
    ]);
    const lines = status.split("\n").filter((line) => line !== "");
    const header = (name: string) => lines.find((line) => line.startsWith(`# ${name} `))?.split(" ")[2];
    const branch = header("branch.head");
    if (branch !== "main") {
      throw new LorimerError("infra", `${this.dir} has ${branch} checked out, not main`, {
        hint: `Go back with \`git -C ${this.dir} checkout main\`.`,
      });
    }
    const head = header("branch.oid");
    const newest = this.#list.at(-1)?.commit ?? "(initial)";
    if (head !== newest) throw this.#disagreement(`main is at ${head}, lorimer left it at ${newest}`);
    const changed = lines.filter((line) => !line.startsWith("#")).map(changedPath);
    if (changed.length > 0) {
      const more = changed.length > 5 ? ` and ${changed.length - 5} more` : "";
      const paths = `${changed.slice(0, 5).join(", ")}${more}`;
      const last = this.#list.at(-1);
      const base = last ? generationTag(last.number) : "an empty repository";
      throw new LorimerError("infra", `files in ${this.dir} differ from ${base}: ${paths}`, {
        hint: `See them with \`git -C ${this.dir} diff\`, put them away with \`git -C ${this.dir} stash -u\`.`,
      });
    }
  }

  #byNumber(number: number): Generation {
    const generation = this.#list[number];
    if (generation) return generation;
    throw new LorimerError("missing", `there is no generation ${number} in ${this.dir}`, {
      hint: `There are generations 0 to ${this.#list.length - 1}.`,
    });
  }

  async #treeOf(which: number | string): Promise<string> {
    if (typeof which === "number") return this.#byNumber(which).tree;
    const named = this.#list.find(({ number }) => generationTag(number) === which);
    if (named) return named.tree;
    try {
      if (which.startsWith("-")) throw new Error("not a name");
      return (await git(this.dir, ["rev-parse", "--verify", `${which}^{tree}`])).trim();
    } catch (error) {
      throw new LorimerError("missing", `there is no generation ${JSON.stringify(which)} in ${this.dir}`, {
        hint: `There are ${generationTag(0)} to ${generationTag(this.#list.length - 1)}.`,
        cause: error,
      });
    }
  }
}

function changedPath(line: string): string {
  const fields = line.startsWith("? ") ? 1 : 8;
  return line.split(" ").slice(fields).join(" ");
}

function sameGeneration(dir: string, known: Generation, request: GenerationCommit): Generation {
  const hash = request.trailers["Candidate-Hash"];
  if (known.trailers["Candidate-Hash"] === hash) return known;
  throw new LorimerError(
    "infra",
    `${dir} has generation ${known.number} from candidate ${known.trailers["Candidate-Hash"]}, not from ${hash}`,
    { hint: "Two runs wrote here, or the ledger was changed: start a new run." },
  );
}

async function tag(dir: string, number: number, commit: string): Promise<void> {
  await git(
    dir,
    ["fast-import", "--quiet", "--stats"],
    tagStream(generationTag(number), commit, dateOf(number)),
  );
}

/** Stands while main and the work tree may differ because of us. */
function checkoutMark(dir: string): string {
  return join(dir, ".git", "lorimer-checkout");
}

/** After a kill between commit and checkout. Stashed rather than reset: nothing that a person wrote meanwhile is lost. */
async function finishCheckout(dir: string, list: readonly Generation[]): Promise<void> {
  if (!existsSync(checkoutMark(dir))) return;
  if (list.length > 0) {
    await git(dir, ["stash", "push", "--include-untracked", "--message", "found when the run was resumed"]);
  }
  rmSync(checkoutMark(dir), { force: true });
}
