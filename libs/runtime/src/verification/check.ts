/**
 * The finding of a check: at which log position it compared, and the first difference; an empty finding when it holds.
 */
export type Verdict = { readonly position: number; readonly finding: string };

/**
 * Something that a service keeps folded from the log, which can be folded afresh beside it. Throws a Fault when it
 * cannot be compared now, with a sentence that says why.
 */
export type Check = {
  /** <service>.<what is folded> */
  readonly name: string;
  run(signal: AbortSignal): Promise<Verdict>;
};
