/** A suite at its full size: what it proves, and how it is run. `npm test` runs the same suites short. */
export type Campaign = {
  readonly name: string;
  readonly description: string;
  /** The same seed repeats the same run, as far as real processes allow. */
  run(options: {
    readonly seed: number;
    /** One line of progress. */
    readonly log: (line: string) => void;
  }): Promise<{ readonly violations: readonly string[]; readonly summary: string }>;
};
