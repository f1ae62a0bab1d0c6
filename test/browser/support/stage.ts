import { test as plain } from "vitest";
import type { WorldOptions } from "../../world/world.ts";
import { findChromium } from "./chromium.ts";
import { Stage } from "./cluster-stage.ts";

/**
 * Tests on a cluster with these options. One cluster and one browser serve all tests of a file, including those from
 * other modules: they start with the first test and end after the last. `shared` is the stage for data that tests
 * prepare together; `stage` belongs to one test, and its pages are closed and checked at the test's end.
 */
export const testsOn = (options: WorldOptions) =>
  plain
    // oxlint-disable-next-line eslint/no-empty-pattern — Vitest reads from the pattern that this fixture needs no other
    .extend("shared", { scope: "file" }, async ({}, { onCleanup }) => {
      const stage = new Stage();
      onCleanup(() => stage.stop());
      const { program } = findChromium();
      if (program !== null) await stage.start(program, options);
      return stage;
    })
    .extend("stage", ({ shared }, { onCleanup }) => {
      onCleanup(() => shared.clear());
      return shared;
    });

/** The tests of all pages use the same kind of cluster, so that one file may contain any of them. */
export const test = testsOn({ slots: 4 });
