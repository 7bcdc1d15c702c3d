import { createHash } from "node:crypto";

/** Git's own name of the tree that holds exactly `files` as plain files: what an exported folder is checked against. */
export function treeHash(files: ReadonlyMap<string, string>): string {
  const blobs = new Map<string, string>();
  const folders = new Map<string, Map<string, string>>();
  for (const [path, content] of files) {
    const slash = path.indexOf("/");
    if (slash === -1) {
      blobs.set(path, content);
      continue;
    }
    const name = path.slice(0, slash);
    const folder = folders.get(name) ?? new Map<string, string>();
    folders.set(name, folder.set(path.slice(slash + 1), content));
  }
  const entries = [
    ...[...blobs].map(([name, content]) => ({ mode: "100644", name, key: name, hash: blobHash(content) })),
    // Git sorts a folder as if its name ended in a slash.
    ...[...folders].map(([name, inner]) => ({
      mode: "40000",
      name,
      key: `${name}/`,
      hash: treeHash(inner),
    })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  const bytes = entries.map(({ mode, name, hash }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(hash, "hex")]),
  );
  return objectHash("tree", Buffer.concat(bytes));
}

function blobHash(content: string): string {
  return objectHash("blob", Buffer.from(content));
}

function objectHash(type: "blob" | "tree", bytes: Buffer): string {
  return createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
}
