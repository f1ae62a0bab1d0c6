import { afterAll, afterEach, beforeAll } from "vitest";
import type { WorldOptions } from "../../world/world.ts";
import { findChromium } from "./chromium.ts";
import { Stage } from "./cluster-stage.ts";

/**
 * A stage for the tests of one file: one cluster and one browser, started before the first and ended after the last.
 */
export function useStage(options: WorldOptions = {}): Stage {
  const stage = new Stage();
  beforeAll(async () => {
    const { program } = findChromium();
    if (program !== null) await stage.start(program, { slots: 2, ...options });
  });
  afterEach(() => stage.clear());
  afterAll(() => stage.stop());
  return stage;
}
