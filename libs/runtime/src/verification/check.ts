/**
 * The result of a check: the log position of the comparison, and the first difference; an empty finding means no
 * difference.
 */
export type Verdict = { readonly position: number; readonly finding: string };

/**
 * State that a service folds from the log, and that can be compared with a new fold. Throws a Fault with the reason if
 * it cannot be compared now.
 */
export type Check = {
  /** The name: <service>.<fold>. */
  readonly name: string;
  run(signal: AbortSignal): Promise<Verdict>;
};
