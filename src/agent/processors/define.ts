import type { z } from "zod";

export type {
  AfterModelEvent,
  AfterToolEvent,
  BeforeModelEvent,
  BeforeToolEvent,
  StepEndEvent,
  StepStartEvent,
  TaskEndEvent,
  TaskStartEvent,
  TriggerEvent,
} from "../hooks.ts";

/**
 * Base class of processors. Hooks are async generators: yield the event, unchanged or replaced, to pass it on; yield
 * nothing to block what it announces; yield `{ type: "trigger", action, detail }` beside it to say what was done.
 * State in fields lives for one rollout.
 */
export abstract class Processor<Options = Record<string, never>> {
  /** 10 early, 20 normal, 30 late; ties keep the list's order. */
  static order = 20;
  /** At most one processor of a group may be in a harness. */
  static group: string | undefined = undefined;
  /** Groups that must come before this one, where they are present. */
  static after: readonly string[] = [];
  /** Schema of the options in config.yaml; every field needs a default, so that no options are fine too. */
  static options: z.ZodObject | undefined = undefined;
  /** Custom events: `{ "my-event": "methodName" }`. */
  static handles: Readonly<Record<string, string>> = {};

  protected readonly options: Options;

  constructor(options: Options = {} as Options) {
    this.options = options;
  }
}
