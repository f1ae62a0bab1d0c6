/** Tests that need what a machine may lack are skipped without it, and print the reason. */
import { spawnSync } from "node:child_process";
import process from "node:process";

/** The function `skip` of vitest's test context. */
export type Skip = (note: string) => never;

/** `npm test` counts a test with these words as skipped; a test that did not run without them counts as failed. */
export const needs = "needs what is not here: ";

export function notRun(skip: Skip, why: string): never {
  return skip(`${needs}${why}`);
}

/** Whether TRAINYARD_REQUIRE names it, in a list such as `podman,helm`: then a test fails without it. */
export function isRequired(name: string): boolean {
  return (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes(name);
}

/** Returns why something is not here, for `notRun`. Throws it if TRAINYARD_REQUIRE names the thing. */
export function absent(name: string, why: string): string {
  if (isRequired(name))
    throw new Error(`TRAINYARD_REQUIRE names ${name}, which is not here: ${why}`);
  return why;
}

/** Returns the programs that are not on PATH. */
export function missingPrograms(...names: readonly string[]): readonly string[] {
  return names.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
}
