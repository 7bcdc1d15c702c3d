// Text of models, proposers and people goes into git, Markdown and terminals: it must not carry codes for them.
// The two joiners stay: words of some scripts need them.
const controls = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

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
