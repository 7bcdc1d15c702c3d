import { buildLiteralCorpus, type LiteralTask } from "../../src/checks/literals/corpus.ts";

const orders: [id: string, customer: string, units: number, price: number, discount: number][] = [
  ["job-4tz8", "Okafor", 7, 413, 15],
  ["job-9mqa", "Lindqvist", 12, 268, 5],
  ["job-7pw3", "Baptiste", 9, 731, 20],
  ["job-2xk5", "Haruki", 23, 154, 10],
  ["job-8rv1", "Mbeki", 5, 947, 15],
  ["job-5hn6", "Castellano", 16, 382, 5],
];

/** Six invoices whose totals a general formula gives. */
export const invoices: LiteralTask[] = orders.map(([id, customer, units, price, discount]) => ({
  id,
  input: `Task ${id}: ${customer} bought ${units} units at ${price} each, discount ${discount}%. Total?`,
  expected: String((units * price * (100 - discount)) / 100),
}));

export const invoiceCorpus = buildLiteralCorpus(invoices, [
  "Answer with the total.",
  "queues: refunds, shipping",
]);

/** A tool file around the body of its `run(p)`. */
export function toolFile(body: string, before = ""): string {
  return `import { tool } from "lorimer/tools";
import { z } from "zod";

${before}
export const total = tool({
  description: "Works out the total of an invoice.",
  input: z.object({ p: z.string() }),
  async run({ p }) {
    ${body}
    return "unknown";
  },
});
`;
}
