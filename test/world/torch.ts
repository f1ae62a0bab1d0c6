/**
 * Tests that need PyTorch, or another thing that a machine may lack, run where it is; elsewhere the reason is printed.
 */
import { pythonEnvironment, torchRequired } from "../../scripts/lib/python-environment.ts";

/** The function `skip` of vitest's test context. */
type Skip = (note: string) => never;

/** `npm test` counts a test that says so as skipped; without these words a test that did not run has failed. */
export const needs = "needs what is not here: ";

export function notRun(skip: Skip, why: string): never {
  return skip(`${needs}${why}`);
}

/**
 * A Python with PyTorch. Where there is none the test ends here: as skipped, or failed with TRAINYARD_REQUIRE=torch.
 */
export function needTorch(skip: Skip): string {
  const environment = pythonEnvironment();
  if (environment.python !== null) return environment.python;
  if (torchRequired()) throw new Error(`TRAINYARD_REQUIRE asks for torch: ${environment.why}`);
  return notRun(skip, environment.why);
}
