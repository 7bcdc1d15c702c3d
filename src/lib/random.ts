import { createHash } from "node:crypto";

/** A deterministic source of numbers in [0, 1), named by what it is for. */
export type Random = () => number;

function seedWords(parts: readonly (string | number)[]): Uint32Array {
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest();
  return new Uint32Array(digest.buffer.slice(digest.byteOffset, digest.byteOffset + 16));
}

/** sfc32 seeded by a hash of `parts`: the same parts always give the same stream. */
export function seededRandom(...parts: (string | number)[]): Random {
  const words = seedWords(parts);
  let a = words[0] ?? 0;
  let b = words[1] ?? 0;
  let c = words[2] ?? 0;
  let counter = words[3] ?? 0;
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
}

/** One number in [0, 1) for `parts`. */
export function randomOf(...parts: (string | number)[]): number {
  return seededRandom(...parts)();
}

/** A whole number in [0, 2³¹) for `parts`: what is passed to models as their seed. */
export function seedOf(...parts: (string | number)[]): number {
  return Math.floor(randomOf(...parts) * 2 ** 31);
}

/** A shuffled copy (Fisher–Yates). */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}
