import process from "node:process";

type Options = { readonly counters: { readonly processed: number } };

// A reporter of knip, which loads the default export: its own reporters do not say how many files it read.
// oxlint-disable-next-line import/no-default-export -- knip asks for it
export default function count({ counters }: Options): void {
  process.stdout.write(`files seen: ${counters.processed}\n`);
}
