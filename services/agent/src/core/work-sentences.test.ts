import { expect, test } from "vitest";
import { nearLimit, outsideWork } from "./work-sentences.ts";

const limits = { bytesMax: 10 * 1024 ** 3, filesMax: 100_000 };

test("a folder is warned of from 80 % of a limit on, with the same words at every size", () => {
  expect(nearLimit({ bytes: 8 * 1024 ** 3, files: 80_000 }, limits)).toBeNull();
  const near = nearLimit({ bytes: 8 * 1024 ** 3 + 1, files: 1 }, limits);
  expect(near).toContain("more than 80 % of the 10 GiB that are saved");
  expect(nearLimit({ bytes: limits.bytesMax, files: 1 }, limits)).toBe(near);
  const many = nearLimit({ bytes: 1, files: 80_001 }, limits);
  expect(many).toContain("more than 80 % of the 100,000 files that are saved");
});

test("a work_dir outside of the task's folder is warned of, and no other", () => {
  expect(outsideWork("/data/x", "/runs/1/work/kept")).toContain("/data/x is outside");
  expect(outsideWork("/runs/1/work/kept2", "/runs/1/work/kept")).not.toBeNull();
  for (const inside of ["", "src", "/runs/1/work/kept", "/runs/1/work/kept/src"]) {
    expect(outsideWork(inside, "/runs/1/work/kept")).toBeNull();
  }
});
