import { test as plain } from "vitest";
import type { WorldOptions } from "../../world/world.ts";
import { findChromium, needChromium } from "./chromium.ts";
import { Stage } from "./cluster-stage.ts";

/**
 * Tests on a cluster with these options. One cluster and one browser serve all tests of a file, including those from
 * other modules: they start with the first test and end after the last. `shared` is the stage for data that tests
 * prepare together; `stage` belongs to one test, and its pages are closed and checked at the test's end. Without
 * Chromium a test that needs `stage` is skipped.
 */
export function testsOn(options: WorldOptions) {
  // Vitest makes a fixture of a file once for each extension of these tests, and each module of a page is one.
  let started: Promise<Stage> | null = null;
  async function start(onCleanup: (stop: () => Promise<void>) => void): Promise<Stage> {
    const stage = new Stage();
    onCleanup(() => stage.stop());
    const { program } = findChromium();
    if (program !== null) await stage.start(program, options);
    return stage;
  }
  return (
    plain
      // oxlint-disable-next-line eslint/no-empty-pattern — Vitest reads from the pattern that this fixture needs no other
      .extend("shared", { scope: "file" }, ({}, { onCleanup }) => (started ??= start(onCleanup)))
      .extend("stage", ({ shared, skip }, { onCleanup }) => {
        needChromium(skip);
        onCleanup(() => shared.clear());
        return shared;
      })
  );
}

/** The tests of all pages use the same kind of cluster, so that one file may contain any of them. */
export const test = testsOn({ slots: 4 });
