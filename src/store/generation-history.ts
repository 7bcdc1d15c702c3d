import { LorimerError } from "../lib/errors.ts";
import { trailersOf } from "./commit-stream.ts";
import { git } from "./git.ts";
import { treeHash } from "./tree-hash.ts";

/** One accepted generation, as git has it. */
export interface Generation {
  number: number;
  commit: string;
  tree: string;
  subject: string;
  trailers: Record<string, string>;
}

/** `gen/0007` */
export function generationTag(number: number): string {
  return `gen/${String(number).padStart(4, "0")}`;
}

/** What the repository's refs say. */
export interface History {
  list: Generation[];
  /** Commit by tag name. */
  tags: Map<string, string>;
}

/** @throws LorimerError `infra` for a commit on main that is not lorimer's */
export async function readHistory(dir: string): Promise<History> {
  const refs = await git(dir, ["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"]);
  const commits = new Map<string, string>();
  for (const line of refs.split("\n").filter((text) => text !== "")) {
    const [name = "", object = "", peeled = ""] = line.split(" ");
    commits.set(name, peeled || object);
  }
  const tags = [...commits]
    .filter(([name]) => name.startsWith("refs/tags/gen/"))
    .map(([name, commit]): [string, string] => [name.slice("refs/tags/".length), commit]);
  const list = commits.has("refs/heads/main") ? await readMain(dir) : [];
  return { list, tags: new Map(tags) };
}

async function readMain(dir: string): Promise<Generation[]> {
  const format = "--format=%H%n%T%n%B%x00";
  const log = await git(dir, ["log", "--first-parent", "--reverse", format, "refs/heads/main", "--"]);
  const commits = log.split("\0").map((text) => text.trimStart());
  return commits.filter((text) => text !== "").map((text, number) => generationOf(dir, text, number));
}

function generationOf(dir: string, text: string, number: number): Generation {
  const [commit = "", tree = "", ...message] = text.split("\n");
  const trailers = trailersOf(message.join("\n"));
  if (trailers["Generation"] !== String(number)) {
    const found = trailers["Generation"] ?? "none";
    throw new LorimerError(
      "infra",
      `commit ${commit.slice(0, 12)} in ${dir} is generation ${found} by its trailer, ${number} by its place`,
      { hint: `Only lorimer commits on main: move your own commits to a branch of another name.` },
    );
  }
  return { number, commit, tree, subject: message[0] ?? "", trailers };
}

/** The files of a tree. Throws `infra` when it has what lorimer never commits. */
export async function readFiles(dir: string, tree: string): Promise<Map<string, string>> {
  const listing = await git(dir, ["ls-tree", "-r", "-z", "--full-tree", tree]);
  const entries = listing.split("\0").filter((entry) => entry !== "");
  const files = entries.map((entry) => {
    const [, mode, hash, path] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
    if (mode === undefined || hash === undefined || path === undefined || mode === "120000") {
      throw new LorimerError("infra", `tree ${tree} in ${dir} has something that is no file: ${entry}`);
    }
    return { hash, path };
  });
  const contents = await readBlobs(
    dir,
    files.map(({ hash }) => hash),
  );
  const result = new Map(files.map(({ path }, index) => [path, contents[index] ?? ""]));
  if (treeHash(result) === tree) return result;
  throw new LorimerError("infra", `tree ${tree} in ${dir} has files that are no UTF-8 text`);
}

async function readBlobs(dir: string, hashes: readonly string[]): Promise<string[]> {
  if (hashes.length === 0) return [];
  const output = Buffer.from(await git(dir, ["cat-file", "--batch"], `${hashes.join("\n")}\n`));
  const contents: string[] = [];
  for (let at = 0; at < output.length; ) {
    const lineEnd = output.indexOf(0x0a, at);
    const size = Number(output.toString("utf8", at, lineEnd).split(" ")[2]);
    contents.push(output.toString("utf8", lineEnd + 1, lineEnd + 1 + size));
    at = lineEnd + 1 + size + 1;
  }
  return contents;
}
