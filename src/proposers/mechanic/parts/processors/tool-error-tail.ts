import { type AfterToolEvent, Processor } from "lorimer/processors";
import { z } from "zod";

/** When a tool fails with a long message, repeats its end, where the cause mostly stands. */
export class ToolErrorTail extends Processor<{ tail_chars: number }> {
  static override order = 25;
  static override group = "tool-error-tail";
  static override options = z.object({ tail_chars: z.number().int().min(20).default(200) });

  async *onAfterTool(event: AfterToolEvent) {
    const tail = event.result.slice(-this.options.tail_chars).trim();
    if (!event.isError || tail === "") {
      yield event;
      return;
    }
    yield { ...event, result: `${event.result}\n\n[tail] ${tail}` };
    yield { type: "trigger", action: "tail", detail: event.call.name };
  }
}
