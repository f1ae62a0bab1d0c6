/** A test suite at its full size: what it proves, and how it runs. `npm test` runs the same suites at a small size. */
export type Campaign = {
  readonly name: string;
  readonly description: string;
  /** Runs the suite. A seed repeats the same run, as far as real processes allow. */
  run(options: {
    readonly seed: number;
    /** One line of progress. */
    readonly log: (line: string) => void;
  }): Promise<{ readonly violations: readonly string[]; readonly summary: string }>;
};

type Options = Parameters<Campaign["run"]>[0];
type Result = Awaited<ReturnType<Campaign["run"]>>;

/**
 * Returns a campaign that runs all parts one after the other, followed by each part as a campaign: the whole may take
 * hours.
 */
export function wholeAndParts(
  name: string,
  description: string,
  parts: readonly Campaign[],
): readonly Campaign[] {
  const run = async (options: Options): Promise<Result> => {
    const results: Result[] = [];
    for (const part of parts) results.push(await part.run(options));
    return {
      violations: results.flatMap(({ violations }) => violations),
      summary: results.map(({ summary }) => summary).join("; "),
    };
  };
  return [{ name, description, run }, ...parts];
}
