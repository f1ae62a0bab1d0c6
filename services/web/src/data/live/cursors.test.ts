import { expect, test } from "vitest";
import { Cursors } from "./cursors.ts";

test("the cursor before a time is the last one seen by then, or else the first", () => {
  const cursors = new Cursors();
  expect(cursors.before(0)).toBe("");
  cursors.add("a", 1_000);
  cursors.add("b", 2_000);
  expect(cursors.before(1_500)).toBe("a");
  expect(cursors.before(500)).toBe("a");
  expect(cursors.before(9_000)).toBe("b");
});

test("ten minutes of frames keep only a few cursors", () => {
  const cursors = new Cursors();
  for (let ms = 0; ms < 600_000; ms += 10) cursors.add(`c${ms}`, ms);
  expect(cursors.before(599_990 - 3_000)).toMatch(/^c596\d\d\d$/);
  expect(JSON.stringify(cursors.before(0))).toMatch(/^"c5(89|90)/);
});
