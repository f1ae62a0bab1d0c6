import { expect, test } from "vitest";
import { PositionFilter } from "./position-filter.ts";
import { busLimits } from "./limits.ts";

test("positions ascend within an epoch, even if events of two epochs alternate", () => {
  const heard = new PositionFilter();
  const told = ["a 1", "a 2", "b 1", "a 2", "b 1", "b 2", "a 3", "a 1"].filter((line) => {
    const [epoch = "", position] = line.split(" ");
    return heard.isNew(Number(position), epoch);
  });
  expect(told).toEqual(["a 1", "a 2", "b 1", "b 2", "a 3"]);
});

test("the least recently received epochs are forgotten first", () => {
  const heard = new PositionFilter();
  heard.isNew(5, "old");
  heard.isNew(5, "kept");
  for (let n = 0; n < busLimits.epochsRemembered - 1; n += 1) {
    heard.isNew(1, `new ${n}`);
    heard.isNew(6 + n, "kept");
  }
  expect([heard.isNew(5, "kept"), heard.isNew(5, "old")]).toEqual([false, true]);
});
