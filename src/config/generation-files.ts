import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { systemCode } from "../lib/errors.ts";
import { decodeUtf8, maxFileBytes, readSmallFile } from "./text.ts";
import { entryError, type YamlFile } from "./yaml.ts";

/** A file that a config names, inside the config's own folder. */
export interface Reference {
  /** Relative to the folder, with forward slashes. */
  file: string;
  /** What stands after `::`; "" where nothing may. */
  exportName: string;
  /** The same reference as it is committed: `file://$GENERATION/tools/x.ts::name`. */
  canonical: string;
  /** End-of-line normalised. */
  text: string;
}

interface Entry {
  config: YamlFile;
  keys: readonly PropertyKey[];
}

const scheme = "file://";
const variable = "$GENERATION/";

export function isReference(text: string): boolean {
  return text.startsWith("file:");
}

/**
 * Resolves one reference of a config in `dir`; `wants` says whether `::export` must follow the path.
 * @throws LorimerError `config` naming entry and line: relative or leaving path, symlink, missing or odd file.
 */
export function resolveReference(
  dir: string,
  reference: string,
  { config, keys, wants }: Entry & { wants: "export" | "file" },
): Reference {
  const fail = (what: string, hint: string) => entryError(config, keys, `\`${reference}\` ${what}`, hint);
  const example = `file://$GENERATION/path/to/file${wants === "export" ? ".ts::name" : ".md"}`;
  if (!reference.startsWith(scheme))
    throw fail("is no file of the generation", `Write it as \`${example}\`.`);
  const [path, exportName] = splitExport(reference.slice(scheme.length));
  if (wants === "export" && !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(exportName)) {
    throw fail(
      "names no export",
      `Write it as \`${example}\`; a name has letters, digits and _, at most 64.`,
    );
  }
  if (wants === "file" && path.length < reference.length - scheme.length) {
    throw fail("names an export of a text", "Leave out the `::` and what follows.");
  }
  const file = placeInside(dir, path, fail, example);
  const text = readInside(dir, file, fail, `${config.locate(keys)}: ${file}`);
  const suffix = exportName === "" ? "" : `::${exportName}`;
  return { file, exportName, canonical: `${scheme}${variable}${file}${suffix}`, text };
}

type FailWith = (what: string, hint: string) => Error;

function splitExport(body: string): [path: string, exportName: string] {
  const mark = body.lastIndexOf("::");
  return mark === -1 ? [body, ""] : [body.slice(0, mark), body.slice(mark + 2)];
}

/** The path relative to the generation's folder, judged by its text alone. */
function placeInside(dir: string, path: string, fail: FailWith, example: string): string {
  const local = path.startsWith(variable);
  if (!local && !isAbsolute(path)) throw fail("is a relative path", `Write it as \`${example}\`.`);
  if (/[\p{Cc}\\]/u.test(path))
    throw fail("has a control character or backslash in its path", "Rename the file.");
  const inside = (local ? [resolve(dir, path.slice(variable.length))] : [path]).flatMap((target) =>
    [resolve(dir), realpathSync(dir)].map((base) => relative(base, resolve(target))),
  );
  const file = inside.find((each) => each !== "" && !isAbsolute(each) && each.split(sep)[0] !== "..");
  if (file === undefined)
    throw fail("leaves the generation's folder", "Copy the file into the folder of config.yaml.");
  const slashed = file.split(sep).join("/");
  if (/^(\.|_meta_scratch\/|config\.yaml$)/.test(slashed)) {
    throw fail("is not part of a generation", "Put it in tools/, processors/, prompts/ or skills/.");
  }
  return slashed;
}

function readInside(dir: string, file: string, fail: FailWith, place: string): string {
  const full = join(realpathSync(dir), file);
  let real: string;
  try {
    real = realpathSync(full);
  } catch (error) {
    if (systemCode(error) === "ELOOP") throw fail("is a symlink", "Put a plain file there.");
    throw fail("does not exist", `Create ${file}, or correct the path.`);
  }
  if (real !== full) throw fail("has a symlink on its path", "Put a plain file there.");
  let bytes: Uint8Array;
  try {
    bytes = readSmallFile(full);
  } catch {
    throw fail(
      `is no plain, readable file of at most ${maxFileBytes} bytes`,
      "Move data to the recipe's resources.",
    );
  }
  return decodeUtf8(bytes, place);
}
