interface Line {
  sign: " " | "-" | "+";
  text: string;
}

const context = 3;
/** Above this many cells of the table the middle is given as removed and added. */
const maxCells = 4_000_000;

/** Line diff with hunks of three lines of context; "" when the texts are equal. No file header. */
export function unifiedDiff(before: string, after: string): string {
  const lines = diffLines(splitLines(before), splitLines(after));
  return hunksOf(lines)
    .map(([start, end]) => renderHunk(lines, start, end))
    .join("");
}

/** Lines with their ends, so that a missing last line end is a difference. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function diffLines(before: string[], after: string[]): Line[] {
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const same = (texts: string[]): Line[] => texts.map((text) => ({ sign: " ", text }));
  return [
    ...same(before.slice(0, head)),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

/** By the longest common subsequence; removed lines come before added ones. */
function diffMiddle(before: string[], after: string[]): Line[] {
  const width = after.length + 1;
  const table = before.length * after.length > maxCells ? undefined : commonLengths(before, after);
  const lengthAt = (i: number, j: number) => table?.[i * width + j] ?? 0;
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (table !== undefined && old !== undefined && old === fresh) {
      lines.push({ sign: " ", text: old });
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ sign: "-", text: old });
      i++;
    } else {
      lines.push({ sign: "+", text: fresh ?? "" });
      j++;
    }
  }
  return lines;
}

/** Cell (i, j): length of the longest common subsequence of what follows. */
function commonLengths(before: string[], after: string[]): Uint32Array {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const diagonal = (table[(i + 1) * width + j + 1] ?? 0) + 1;
      const skip = Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
      table[i * width + j] = before[i] === after[j] ? diagonal : skip;
    }
  }
  return table;
}

/** Ranges of lines, [start, end), round the changes; near ones are joined. */
function hunksOf(lines: readonly Line[]): [number, number][] {
  const hunks: [number, number][] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const start = Math.max(0, index - context);
    const end = Math.min(lines.length, index + context + 1);
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = end;
    else hunks.push([start, end]);
  }
  return hunks;
}

function renderHunk(lines: readonly Line[], start: number, end: number): string {
  const count = (part: readonly Line[], sign: "-" | "+") =>
    part.filter((line) => line.sign === " " || line.sign === sign).length;
  const range = (sign: "-" | "+") => {
    const length = count(lines.slice(start, end), sign);
    return `${sign}${count(lines.slice(0, start), sign) + (length > 0 ? 1 : 0)},${length}`;
  };
  const body = lines
    .slice(start, end)
    .map(
      ({ sign, text }) => `${sign}${text}${text.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`,
    );
  return `@@ ${range("-")} ${range("+")} @@\n${body.join("")}`;
}
