import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { folderNameOf } from "../state/layout.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { UnreadRuns } from "./unread-runs.ts";

afterAll(removeFolders);

const run = { allocation: "1.1#1", requestId: "r" };
const failing = Object.assign(new Error("EIO"), { errno: -5, code: "EIO" });
const slots = ["0", "1"].map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 1 }));

/** A run's folder, whose reads throw the error that `read` is given. */
function stage() {
  const path = join(newFolder(), folderNameOf(run));
  mkdirSync(path);
  const told: unknown[] = [];
  let next: Error | null = null;
  const adopt = () => {
    if (next !== null) throw next;
  };
  const notAdopted = (_path: string, error: unknown) => void told.push(error);
  const unread = new UnreadRuns(adopt, { notAdopted }, { slots });
  const read = (error: Error | null) => {
    next = error;
    unread.read(path);
    return unread.reports();
  };
  return { path, told, read };
}

test("a run that could not be read is reported with all slots of its agent, since nobody knows which it has", () => {
  const { read } = stage();
  expect(read(failing)).toMatchObject([{ ...run, slots: ["0", "1"] }]);
});

test("a run that stays unread is logged once", () => {
  const { told, read } = stage();
  for (const _ of [1, 2, 3]) expect(read(failing)).toHaveLength(1);
  expect(told).toEqual([failing]);
  expect(read(null)).toEqual([]);
});

test("a run whose record has another form is logged and not held, since no later read helps", () => {
  const { told, read } = stage();
  const other = Object.assign(new TypeError("a number was expected"), { code: "invalid_message" });
  expect(read(other)).toEqual([]);
  expect(read(failing)).toHaveLength(1);
  expect(read(other)).toEqual([]);
  expect(told).toEqual([other, failing, other]);
});

test("a run whose folder is gone is not held", () => {
  const { path, read } = stage();
  read(failing);
  rmSync(path, { recursive: true });
  expect(read(failing)).toEqual([]);
});
