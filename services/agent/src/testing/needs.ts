/** `npm test` counts a test that says so as skipped; without these words a test that did not run has failed. */
export function notRun(skip: (note: string) => never, why: string): never {
  return skip(`needs what is not here: ${why}`);
}
