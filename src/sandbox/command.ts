import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { LorimerError } from "../lib/errors.ts";
import { packageRoot } from "../lib/package-root.ts";

export const fenceLevels = ["full", "partial", "weak"] as const;
/** Strongest first: bwrap; a network namespace of its own; Node's permission model alone. */
export type FenceLevel = (typeof fenceLevels)[number];

export const bubblewrapHint = "apt-get update && apt-get install -y bubblewrap";

export interface WorkerPlace {
  level: FenceLevel;
  /** Host folder, real path: the one place that the worker may write. */
  workspace: string;
  /** Host folder of the recipe's resources, real path. */
  resources?: string;
  /** What runs there; default: the built worker. */
  script?: string;
}

interface Command {
  file: string;
  arguments: string[];
}

const memoryBytes = 512 * 2 ** 20;
const heapMegabytes = 256;
const fileBytes = 64 * 2 ** 20;
// Far above what the pool lets one worker use; it ends a worker whose parent is gone.
const cpuSeconds = 600;

/** The command line of one worker; it runs with an empty environment. @throws LorimerError `infra` */
export function workerCommand(place: WorkerPlace): Command {
  const { level, workspace, resources, script = builtWorker() } = place;
  if (level === "full") {
    const inside = { script: "/box/worker.cjs", workspace: "/workspace" };
    const node = nodeArguments(resources === undefined ? inside : { ...inside, resources: "/resources" });
    return { file: tool("prlimit"), arguments: [...limits(), tool("bwrap"), ...box(place, script), ...node] };
  }
  const node = nodeArguments(
    resources === undefined ? { script, workspace } : { script, workspace, resources },
  );
  const [file = "", ...rest] = [...walls(level), ...node];
  return { file, arguments: rest };
}

/** What runs before node where there is no box. On the weak level these are used where they are installed. */
function walls(level: FenceLevel): string[] {
  const network = level === "partial" ? [tool("unshare"), "--map-root-user", "--net"] : [];
  const optional = level === "weak";
  const death = optional ? find("setpriv") : tool("setpriv");
  const limited = optional ? find("prlimit") : tool("prlimit");
  return [
    ...network,
    // The worker dies with its parent, as bwrap sees to it on the full level.
    ...(death === undefined ? [] : [death, "--pdeathsig", "KILL", "--no-new-privs"]),
    ...(limited === undefined ? [] : [limited, ...limits()]),
  ];
}

function limits(): string[] {
  return [
    ...[`--data=${memoryBytes}`, "--core=0", "--nofile=256"],
    ...[`--fsize=${fileBytes}`, `--cpu=${cpuSeconds}`],
  ];
}

function box({ workspace, resources }: WorkerPlace, script: string): string[] {
  const node = realpathSync(process.execPath);
  const libraries = join(dirname(node), "../lib");
  return [
    ...["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64"],
    ...(node.startsWith("/usr/") ? [] : ["--ro-bind", node, node, "--ro-bind-try", libraries, libraries]),
    ...["--dev", "/dev", "--ro-bind", script, "/box/worker.cjs", "--bind", workspace, "/workspace"],
    ...(resources === undefined ? [] : ["--ro-bind", resources, "/resources"]),
    ...["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--setenv", "TZ", "UTC"],
    ...["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--chdir", "/workspace"],
  ];
}

function nodeArguments(inside: { script: string; workspace: string; resources?: string }): string[] {
  const { script, workspace, resources } = inside;
  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  return [
    ...[realpathSync(process.execPath), `--max-old-space-size=${heapMegabytes}`, "--no-warnings", permission],
    ...[`--allow-fs-read=${script}`, `--allow-fs-read=${workspace}/`, `--allow-fs-write=${workspace}/`],
    ...(resources === undefined ? [] : [`--allow-fs-read=${resources}/`]),
    ...["--frozen-intrinsics", "--disable-proto=delete", "--disallow-code-generation-from-strings"],
    // Else a fresh Buffer shows what memory held before.
    ...["--zero-fill-buffers", script, workspace],
    ...(resources === undefined ? [] : [resources]),
  ];
}

/** @throws LorimerError `infra` when lorimer was never built */
export function builtWorker(): string {
  const path = join(packageRoot, "dist/sandbox/worker.cjs");
  if (existsSync(path)) return path;
  throw new LorimerError("infra", `the fence's worker is missing: ${path}`, { hint: "run `npm run build`" });
}

function tool(name: string): string {
  const found = find(name);
  if (found !== undefined) return found;
  const hint = name === "bwrap" ? bubblewrapHint : "apt-get update && apt-get install -y util-linux";
  throw new LorimerError("infra", `the fence needs ${name}, which is not installed`, { hint });
}

function find(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
