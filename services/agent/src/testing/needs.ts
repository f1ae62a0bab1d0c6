/** Skips a test with words that `npm test` counts as a skip; a test that did not run without them counts as failed. */
export function notRun(skip: (note: string) => never, why: string): never {
  return skip(`needs what is not here: ${why}`);
}
