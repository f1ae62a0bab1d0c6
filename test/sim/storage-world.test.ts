import { expect, test } from "vitest";
import { judgeStorageWorld } from "./storage-world.ts";

test.each([1, 2, 3, 4, 5, 6])(
  "storage world %i: whatever hosts see at the path, nothing is judged missing, failed or deleted that is there",
  async (seed) => {
    expect(await judgeStorageWorld(seed), `seed ${seed}`).toEqual([]);
  },
  60_000,
);
