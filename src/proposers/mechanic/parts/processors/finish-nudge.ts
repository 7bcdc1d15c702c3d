import { type AfterModelEvent, type BeforeModelEvent, Processor } from "lorimer/processors";
import { z } from "zod";

type Options = { must_match: string; reminder: string; most: number };

/** Sends the model back, a bounded number of times, when it finishes without the form that the answer must have. */
export class FinishNudge extends Processor<Options> {
  static override order = 18;
  static override group = "finish-nudge";
  static override options = z.object({
    must_match: z.string().default("\\S"),
    reminder: z
      .string()
      .default("Your reply does not have the form that was asked for. Give it again, in that form."),
    most: z.number().int().min(1).max(5).default(1),
  });
  private readonly form = new RegExp(this.options.must_match);
  private nudges = 0;
  private due = false;

  async *onAfterModel(event: AfterModelEvent) {
    const finishing = event.toolCalls.length === 0;
    // The last reply is better kept than sent back: no other would follow.
    const last = event.step >= event.maxSteps - 1;
    if (!finishing || last || this.nudges >= this.options.most || this.form.test(event.content)) {
      yield event;
      return;
    }
    this.nudges += 1;
    this.due = true;
    yield { type: "trigger", action: "sent back", detail: this.options.must_match };
  }

  async *onBeforeModel(event: BeforeModelEvent) {
    if (!this.due) {
      yield event;
      return;
    }
    this.due = false;
    const { reminder } = this.options;
    const tail = event.messages.at(-1);
    const messages =
      tail?.role === "user"
        ? [...event.messages.slice(0, -1), { ...tail, content: `${tail.content}\n\n${reminder}` }]
        : [...event.messages, { role: "user" as const, content: reminder }];
    yield { ...event, messages };
  }
}
