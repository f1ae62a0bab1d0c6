import { ManualClock } from "@trainyard/testing";
import { beforeEach, expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { UploadProgress } from "./upload-progress.ts";

let clock: ManualClock;
let uploads: UploadProgress;

beforeEach(() => {
  clock = new ManualClock();
  uploads = new UploadProgress(clock);
});

/** Asks for a plan of some files; `missingBytes` of these are missing, and the checkpoint has `listedBytes` in all. */
const ask = (page: string, missingBytes: number, listedBytes: number): boolean =>
  uploads.isNews("checkpoint", { page: [page], missingBytes, listedBytes });

const later = () => clock.skip(registryLimits.uploadToldMs);

test("more objects, and more parts of the same files, count as progress", () => {
  expect(ask("a", 100, 0)).toBe(false);
  expect(ask("a", 100, 0)).toBe(false);
  expect(ask("a", 60, 0)).toBe(true);
  later();
  expect(ask("b", 500, 40)).toBe(true);
  later();
  expect(ask("b", 499, 40)).toBe(true);
});

test("progress is reported at intervals", () => {
  ask("a", 100, 0);
  expect([ask("a", 90, 0), ask("a", 80, 0)]).toEqual([true, false]);
  later();
  expect([ask("a", 80, 0), ask("a", 70, 0)]).toEqual([false, true]);
});

test("a request for other files, alternating or new, is not progress", () => {
  const asked = ["aaa", "b", "aaa", "b", "cc", "aaa", "d"].map((page) => {
    later();
    return ask(page, 100 * page.length, 40);
  });
  expect(asked.filter(Boolean)).toEqual([]);
});

test("a part that disappears and returns is not progress", () => {
  ask("a", 100, 50);
  expect([ask("a", 150, 0), ask("a", 100, 50)]).toEqual([false, false]);
});

test("small files on page after page, each requested once, count as progress", () => {
  const asked = ["a", "b", "c"].map((page, index) => {
    later();
    return ask(page, 100, 100 * index);
  });
  expect(asked).toEqual([false, true, true]);
});
