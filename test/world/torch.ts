/** Tests that need PyTorch, or another thing that a machine may lack, are skipped without it, and print the reason. */
import { pythonEnvironment, torchRequired } from "../../scripts/lib/python-environment.ts";

/** The function `skip` of vitest's test context. */
type Skip = (note: string) => never;

/** `npm test` counts a test with these words as skipped; a test that did not run without them counts as failed. */
export const needs = "needs what is not here: ";

export function notRun(skip: Skip, why: string): never {
  return skip(`${needs}${why}`);
}

/** Returns a Python with PyTorch. Without one the test is skipped, or fails with TRAINYARD_REQUIRE=torch. */
export function needTorch(skip: Skip): string {
  const environment = pythonEnvironment();
  if (environment.python !== null) return environment.python;
  if (torchRequired()) throw new Error(`TRAINYARD_REQUIRE names torch, but: ${environment.why}`);
  return notRun(skip, environment.why);
}
