// Text of models, proposers and people goes into git, Markdown and terminals: it must not carry codes for them.
const controls = /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Text without control, zero-width and direction characters; line breaks stay. At most `limit` characters. */
export function plainText(text: string, limit = Number.POSITIVE_INFINITY): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  return cut(
    lines
      .map((line) => line.replaceAll("\t", " ").replace(controls, ""))
      .join("\n")
      .trim(),
    limit,
  );
}

/** The same in one line, white space collapsed. */
export function oneLine(text: string, limit = 120): string {
  return cut(text.replace(/\s+/g, " ").replace(controls, "").trim(), limit);
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Never half of a surrogate pair.
  return `${text
    .slice(0, limit - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}
