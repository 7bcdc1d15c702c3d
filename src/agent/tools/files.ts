import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { z } from "zod";
import { LorimerError, messageOf } from "../../lib/errors.ts";
import type { ToolSchema } from "../../trace/messages.ts";
import type { ToolOutcome, ToolPart } from "../parts.ts";

/** The folders that the built-in file tools may see, under the names that the model uses for them. */
export interface FileRoots {
  resources: string | undefined;
  workspace: string | undefined;
}

const maxResultChars = 20_000;
const maxMatches = 200;

interface FileTool {
  schema: ToolSchema;
  run(input: Record<string, unknown>, roots: FileRoots): Promise<ToolOutcome>;
}

const readInput = z.object({
  path: z.string().describe("resources/… or workspace/…"),
  start_line: z.number().int().min(1).default(1),
  lines: z.number().int().min(1).max(2000).default(200),
});
const read = fileTool({
  name: "Read",
  description:
    "Read a text file by its path, such as resources/NAME or workspace/NAME. Long files come in parts: give a start line.",
  input: readInput,
  run({ path, start_line, lines }, roots) {
    const text = readFileSync(resolveInside(path, roots), "utf8");
    if (text === "") return "[the file is empty]";
    const all = text.split("\n");
    if (start_line > all.length) return `[the file ends at line ${all.length}]`;
    const part = thatFit(all.slice(start_line - 1, start_line - 1 + lines));
    const next = start_line + part.length;
    const rest = all.length - next + 1;
    const more = rest > 0 ? `\n[${rest} more lines; read on from start_line ${next}]` : "";
    return cap(part.join("\n")) + more || "[an empty line]";
  },
});

const globInput = z.object({ pattern: z.string().max(500).describe("Such as resources/*.jsonl or **/*.md") });
const glob = fileTool({
  name: "Glob",
  description: "List files whose path matches a pattern.",
  input: globInput,
  run({ pattern }, roots) {
    const found = filesLike(pattern, roots);
    const more = found.length > maxMatches ? `\n[${found.length - maxMatches} more files]` : "";
    return found.slice(0, maxMatches).join("\n") + more || `[no file matches ${pattern}]`;
  },
});

const grepInput = z.object({
  text: z.string().min(1).describe("Looked for as it stands, without regard to case"),
  pattern: z.string().max(500).default("**").describe("Which files to look in"),
});
const grep = fileTool({
  name: "Grep",
  description: "Find lines that hold a piece of text, in the files whose path matches a pattern.",
  input: grepInput,
  run({ text, pattern }, roots) {
    const wanted = text.toLowerCase();
    const hits: string[] = [];
    for (const path of filesLike(pattern, roots)) {
      for (const [index, line] of readFileSync(resolveInside(path, roots), "utf8").split("\n").entries()) {
        if (!line.toLowerCase().includes(wanted)) continue;
        if (hits.length === maxMatches) return `${cap(hits.join("\n"))}\n[there are more]`;
        hits.push(`${path}:${index + 1}: ${line.slice(0, 300)}`);
      }
    }
    return cap(hits.join("\n")) || `[no line holds ${JSON.stringify(text)}]`;
  },
});

const fileTools: ReadonlyMap<string, FileTool> = new Map(
  [read, glob, grep].map((tool) => [tool.schema.name, tool]),
);

/** The built-in tools by name. They run in the orchestrator, and see nothing but `roots`. */
export function builtinTools(names: readonly string[], roots: FileRoots): ToolPart[] {
  return names.map((name) => {
    const tool = fileTools.get(name);
    if (!tool) throw new LorimerError("config", `there is no built-in tool ${name}`);
    return { schema: tool.schema, run: (input) => tool.run(input, roots) };
  });
}

interface Definition<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  run(input: z.infer<Input>, roots: FileRoots): string;
}

/** A file tool with its schema made once; what goes wrong in it is told without paths of this machine. */
function fileTool<Input extends z.ZodObject>({ name, description, input, run }: Definition<Input>): FileTool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  const failed = (reason: string) => ({ result: `[${name} failed: ${reason}]`, isError: true });
  return {
    schema: { name, description, inputSchema },
    async run(given, roots) {
      const parsed = input.safeParse(given);
      if (!parsed.success)
        return failed(
          parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
        );
      try {
        return { result: run(parsed.data, roots), isError: false };
      } catch (error) {
        return failed(messageOf(error).replaceAll(/'\/[^']*'/g, "that path"));
      }
    },
  };
}

/** The real path of `resources/…` or `workspace/…`; a path that leaves its folder, also by a link, is refused. */
function resolveInside(path: string, roots: FileRoots): string {
  const [first = "", ...rest] = path.replace(/^\.?\//, "").split("/");
  const root = first === "resources" ? roots.resources : first === "workspace" ? roots.workspace : undefined;
  if (root === undefined) throw new Error(`${path} is neither in resources/ nor in workspace/`);
  const wanted = join(root, ...rest);
  // Before asking the disk: what lies outside must not even be known to be there.
  if (leaves(root, wanted)) throw new Error(`${path} leaves its folder`);
  if (!existsSync(wanted)) throw new Error(`there is no file ${path}`);
  const real = realpathSync(wanted);
  if (leaves(realpathSync(root), real)) throw new Error(`${path} leaves its folder`);
  if (!statSync(real).isFile()) throw new Error(`${path} is not a file`);
  return real;
}

function leaves(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === ".." || inside.startsWith(`..${sep}`);
}

function filesLike(pattern: string, roots: FileRoots): string[] {
  return listFiles(roots).filter((path) => matches(path, pattern));
}

function listFiles(roots: FileRoots): string[] {
  return Object.entries(roots)
    .flatMap(([name, root]) =>
      typeof root === "string" && existsSync(root)
        ? readdirSync(root, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(name, relative(root, join(entry.parentPath, entry.name))))
        : [],
    )
    .sort();
}

/**
 * `*` and `?` stay inside a folder, `**` crosses folders; everything else stands for itself. All that the pattern can
 * have come to is followed at once: as a regular expression, the model's pattern could hang us.
 */
function matches(path: string, pattern: string): boolean {
  const tokens = pattern.match(/\*\*\/?|[\s\S]/gu) ?? [];
  // Token positions that the path read so far can have led to.
  let reached = pastStars([0], tokens, "/");
  for (const char of path) {
    const next = [...reached].flatMap((at) => {
      const token = tokens[at];
      if (token?.startsWith("**") || (token === "*" && char !== "/")) return [at];
      return token === char || (token === "?" && char !== "/") ? [at + 1] : [];
    });
    reached = pastStars(next, tokens, char);
  }
  return reached.has(tokens.length);
}

/** With the positions also those behind the stars that end there; a star that is for whole folders, only behind one. */
function pastStars(positions: readonly number[], tokens: readonly string[], last: string): Set<number> {
  const all = new Set(positions);
  // A set grows while it is walked.
  for (const at of all) {
    const token = tokens[at];
    if (token?.startsWith("*") && (token !== "**/" || last === "/")) all.add(at + 1);
  }
  return all;
}

/** The leading lines that fit into one result; at least one. */
function thatFit(lines: readonly string[]): string[] {
  let chars = 0;
  const end = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > maxResultChars + 1;
  });
  return lines.slice(0, end === -1 ? lines.length : Math.max(1, end));
}

function cap(text: string): string {
  if (text.length <= maxResultChars) return text;
  return `${text.slice(0, maxResultChars)}\n[cut: ${text.length - maxResultChars} more characters]`;
}
