import { type BeforeModelEvent, Processor, type StepStartEvent } from "lorimer/processors";
import { z } from "zod";

type Options = { max_chars: number; strip_markup: boolean };
type Messages = StepStartEvent["messages"];

/** Tags, style and script bodies, quoted-printable bytes and white space that carry no words. */
function stripMarkup(text: string): string {
  return text
    .replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/=\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/&nbsp;/gi, " ")
    .replace(/[ \t]+/g, " ")
    .replace(/\s*\n\s*/g, "\n");
}

/** A long input pushes all that follows it out of the model's reach: this strips its markup and cuts it. */
export class InputCap extends Processor<Options> {
  static override order = 12;
  static override group = "input-cap";
  static override options = z.object({
    max_chars: z.number().int().min(200).default(1500),
    strip_markup: z.boolean().default(true),
  });

  async *onStepStart(event: StepStartEvent) {
    yield* this.shorten(event);
  }

  async *onBeforeModel(event: BeforeModelEvent) {
    yield* this.shorten(event);
  }

  private *shorten<Event extends { messages: Messages }>(event: Event) {
    const tail = event.messages.at(-1);
    const content = tail?.role === "user" ? this.cut(tail.content) : undefined;
    if (tail?.role !== "user" || content === undefined || content === tail.content) {
      yield event;
      return;
    }
    yield { ...event, messages: [...event.messages.slice(0, -1), { ...tail, content }] };
    yield {
      type: "trigger",
      action: "shortened",
      detail: `${tail.content.length} to ${content.length} characters`,
    };
  }

  private cut(text: string): string {
    const { max_chars, strip_markup } = this.options;
    if (text.length <= max_chars) return text;
    const plain = strip_markup ? stripMarkup(text) : text;
    if (plain.length <= max_chars) return plain;
    return `${plain.slice(0, max_chars)}\n[cut: ${plain.length - max_chars} more characters]`;
  }
}
