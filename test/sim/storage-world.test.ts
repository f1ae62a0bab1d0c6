import { expect, test } from "vitest";
import { judgeStorageWorld } from "./storage-world.ts";

test.each([1, 2, 3, 4, 5, 6])(
  "storage world %i: no existing checkpoint is judged missing, failed or deleted, whatever hosts see at the path",
  async (seed) => {
    expect(await judgeStorageWorld(seed), `seed ${seed}`).toEqual([]);
  },
  60_000,
);
