import { type AfterToolEvent, Processor } from "lorimer/processors";
import { z } from "zod";

/** Marks the result of a call that was made before with the same input, so that the model stops repeating it. */
export class RepeatGuard extends Processor<{ warn_after: number }> {
  static override order = 20;
  static override group = "repeat-guard";
  static override options = z.object({ warn_after: z.number().int().min(1).default(1) });
  private readonly seen = new Map<string, number>();

  async *onAfterTool(event: AfterToolEvent) {
    const key = JSON.stringify([event.call.name, event.call.input]);
    const before = this.seen.get(key) ?? 0;
    this.seen.set(key, before + 1);
    if (before < this.options.warn_after) {
      yield event;
      return;
    }
    const note = `[the same call was made ${before} times before; its result does not change. Answer with what you have]`;
    yield { ...event, result: `${note}\n${event.result}` };
    yield { type: "trigger", action: "warned", detail: event.call.name };
  }
}
