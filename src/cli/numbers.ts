import { InvalidArgumentError } from "commander";

/** A whole number from `least` on. */
export function atLeast(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least)
      throw new InvalidArgumentError(`give a whole number from ${least} on.`);
    return value;
  };
}

/** A number from `least` on. */
export function number(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value) || value < least)
      throw new InvalidArgumentError(`give a number from ${least} on.`);
    return value;
  };
}
