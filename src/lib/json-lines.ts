/** What could be read of a JSON-lines text, and the torn end that could not. */
export interface JsonLines {
  values: unknown[];
  /** Bytes after the last complete line: a writer was stopped in the middle of it. */
  torn: string;
}

/** Reads JSON lines; a last line that is unfinished or no JSON is set aside, any other bad line throws. */
export function parseJsonLines(text: string): JsonLines {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const values: unknown[] = [];
  let start = 0;
  while (start < body.length) {
    const end = body.indexOf("\n", start);
    if (end === -1) return { values, torn: body.slice(start) };
    const line = body.slice(start, end).trim();
    if (line !== "") {
      try {
        values.push(JSON.parse(line));
      } catch (error) {
        if (body.slice(end + 1).trim() === "") return { values, torn: body.slice(start) };
        throw new SyntaxError(`line ${body.slice(0, start).split("\n").length} is not JSON`, {
          cause: error,
        });
      }
    }
    start = end + 1;
  }
  return { values, torn: "" };
}

export function toJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
