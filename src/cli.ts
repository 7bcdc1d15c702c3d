import { Command, CommanderError } from "commander";
import type { CommandContext } from "./cli/context.ts";
import { registerDiff } from "./cli/diff.ts";
import { registerDoctor } from "./cli/doctor.ts";
import { registerEvolve } from "./cli/evolve.ts";
import { registerFinal } from "./cli/final.ts";
import { registerList } from "./cli/list.ts";
import { registerLog } from "./cli/log.ts";
import { registerNeeds } from "./cli/needs.ts";
import { registerRun } from "./cli/run.ts";
import { registerSchema } from "./cli/schema.ts";
import { registerShow } from "./cli/show.ts";
import { registerStatus } from "./cli/status.ts";
import { createTerminal } from "./cli/terminal.ts";
import { registerTrajectory } from "./cli/trajectory.ts";
import { registerValidate } from "./cli/validate.ts";
import { LorimerError, messageOf, systemCode } from "./lib/errors.ts";
import { packageVersion } from "./lib/package-root.ts";

/** Runs one command line; returns the exit code. The only code that prints or exits lies here and in cli/. */
export async function main(argv: readonly string[]): Promise<number> {
  const terminal = createTerminal();
  const context: CommandContext = { terminal, cwd: process.cwd() };
  process.exitCode = 0;
  try {
    await build(context).parseAsync([...argv], { from: "user" });
    return Number(process.exitCode);
  } catch (error) {
    // Commander has printed what it has to say; --help and --version come here too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const told = machineTrouble(error) ?? error;
    terminal.error(told);
    return told instanceof LorimerError ? told.exitCode : 3;
  }
}

/** What the operating system refused, wherever that was, is nobody's bug: no stack, and what to do next. */
function machineTrouble(error: unknown): LorimerError | undefined {
  const troubles = [
    "ENOSPC",
    "EDQUOT",
    "EFBIG",
    "EROFS",
    "EACCES",
    "EPERM",
    "EIO",
    "EMFILE",
    "ENFILE",
    "ENOMEM",
  ];
  if (error instanceof LorimerError || !troubles.includes(systemCode(error) ?? "")) return undefined;
  return new LorimerError("infra", messageOf(error), {
    hint: "All that a run has paid for is kept: put this right, then go on with `lorimer evolve --resume`.",
    cause: error,
  });
}

function build(context: CommandContext): Command {
  const program = new Command("lorimer")
    .description(
      "Evolves the harness of an LLM agent: proves a change before it spends, decides with stated error rates.",
    )
    .version(packageVersion)
    .showHelpAfterError("(lorimer --help lists the commands)")
    .enablePositionalOptions()
    .exitOverride();
  const commands = [
    registerDoctor,
    registerRun,
    registerEvolve,
    registerList,
    registerStatus,
    registerLog,
    registerShow,
    registerTrajectory,
    registerDiff,
    registerValidate,
    registerNeeds,
    registerFinal,
    registerSchema,
  ];
  for (const register of commands) register(program, context);
  for (const command of program.commands) command.exitOverride();
  return program;
}
