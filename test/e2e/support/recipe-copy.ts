import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageRoot } from "../../../src/lib/package-root.ts";
import { inboxTriage } from "./lorimer.ts";

/** A copy of the mail recipe in `dir`, where its modules find the packages named; returns its folder. */
export function copyInboxTriage(
  dir: string,
  packages: readonly ("lorimer" | "@stdlib")[],
  edit?: (recipe: string) => string,
): string {
  const copy = join(dir, "inbox-triage");
  cpSync(inboxTriage, copy, { recursive: true });
  if (edit) editFile(join(copy, "recipe.yaml"), edit);
  for (const name of packages) {
    const target = name === "lorimer" ? packageRoot : join(packageRoot, "node_modules", name);
    linkPackage(join(dir, "node_modules", name), target);
  }
  return copy;
}

export function linkPackage(link: string, target: string): void {
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}

export function editFile(file: string, edit: (text: string) => string): void {
  const before = readFileSync(file, "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`nothing to edit in ${file}`);
  writeFileSync(file, after);
}
