/** A choice that the simulated agent is asked to make. */
export interface Decision {
  name: string;
  options: string[];
}

const declared = /^[-* \t]*([\w.-]+)\s*:\s*(?:one of|options?:?|choose (?:from|between))\s+([^\n(.;]+)/im;
const stated = /\b(?:options|choices|one of|either|choose between|labels)\b(?: are)?\s*:?\s*([^\n(.;]+)/i;

/** Finds the first decision in the instructions: `route: one of a, b`, or only its options: `Options: a, b`. */
export function findDecision(instructions: readonly string[]): Decision | undefined {
  for (const text of instructions) {
    const [, name, list] = declared.exec(text) ?? [];
    const options = optionsOf(list);
    if (name !== undefined && options.length > 1) return { name, options };
  }
  for (const text of instructions) {
    const options = optionsOf(stated.exec(text)?.[1]);
    if (options.length > 1) return { name: "answer", options };
  }
  return undefined;
}

function optionsOf(list = ""): string[] {
  return list
    .split(/\s*(?:,|\||\/|\bor\b|\band\b)\s*/)
    .map((option) => option.replace(/^["'`\s]+|["'`\s]+$/g, ""))
    .filter((option) => /^[\w][\w -]{0,40}$/.test(option));
}

/** A pattern source that matches any of the options as a whole word. */
export function anyOption({ options }: Decision): string {
  const longestFirst = [...options].sort((a, b) => b.length - a.length);
  return `(?:${longestFirst.map((option) => option.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`;
}
