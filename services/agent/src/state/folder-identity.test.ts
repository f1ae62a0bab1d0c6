import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { beginStart } from "./folder-identity.ts";

afterAll(removeFolders);

test("a folder keeps its id and place, and each start is later than the one before, whatever the clock says", () => {
  const folder = newFolder();
  const first = beginStart(folder, 1_000);
  const second = beginStart(folder, 500);
  const third = beginStart(folder, 5_000);
  expect(new Set([first, second, third].map(({ folder: id }) => id)).size).toBe(1);
  expect(new Set([first, second, third].map(({ place }) => place)).size).toBe(1);
  expect([first.startedMs, second.startedMs, third.startedMs]).toEqual([1_000, 1_001, 5_000]);
});

test("a copy of a folder has the same id, and another place", () => {
  const [folder, copied] = [newFolder(), newFolder()];
  const original = beginStart(folder, 1_000);
  cpSync(folder, copied, { recursive: true });
  const copy = beginStart(copied, 2_000);
  expect(copy.folder).toBe(original.folder);
  expect(copy.place).not.toBe(original.place);
});

test("another folder has another id, and so has a folder whose record is torn", () => {
  const folder = newFolder();
  const { folder: id } = beginStart(folder, 1_000);
  expect(beginStart(newFolder(), 1_000).folder).not.toBe(id);
  expect(readFileSync(join(folder, "folder.json"), "utf8")).toContain(id);
  writeFileSync(join(folder, "folder.json"), '{"id":');
  expect(beginStart(folder, 2_000).folder).not.toBe(id);
});
