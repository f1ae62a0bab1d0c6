/** All images of this checkout, for all tests of a file: they are built before the first and removed after the last. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Podman } from "@trainyard/service-agent/testing/podman";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, test as plain } from "vitest";
import { type BuiltImage, build, imagesProblem, startPodman } from "./built.ts";

export let podman: Podman;
/** The folder of their bills of materials. */
export let out: string;
export let built: readonly BuiltImage[];

/** A test that is skipped where no image can be built. */
export const test = plain.extend("programs", { auto: true }, ({ skip }) => {
  const problem = imagesProblem();
  if (problem !== null) notRun(skip, problem);
});

const stack = new AsyncDisposableStack();
beforeAll(async () => {
  if (imagesProblem() !== null) return;
  podman = stack.use(await startPodman());
  out = mkdtempSync(join(tmpdir(), "trainyard-bills-"));
  stack.defer(() => rmSync(out, { recursive: true }));
  built = await build(podman, out);
  // On a busy machine.
}, 900_000);
afterAll(() => stack.disposeAsync());
