/** `0.893` or `no score`. */
export function showScore(score: number | null): string {
  return score === null ? "no score" : score.toFixed(3);
}

/** `[0.86, 0.92]` or nothing. */
export function showInterval(
  interval: readonly [number, number] | { low: number; high: number } | null | undefined,
): string {
  if (!interval) return "";
  const [low, high] = "low" in interval ? [interval.low, interval.high] : interval;
  return `[${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

export function signed(value: number): string {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
}

/** Rows as an aligned table; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], { indent = "" } = {}): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row) =>
      `${indent}${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
    )
    .join("\n");
}

/** Seconds as `1:05` or `2:03:09`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
