import { expect, test } from "vitest";
import { folderText, idleText, savedText, type TaskUse } from "./use-texts.ts";

const used: TaskUse = {
  ready: true,
  inUse: true,
  idleSeconds: 0,
  idleTimeoutSeconds: 1_800,
  notice: "",
};
const notebook = { keepsWork: true };

test("the idle time left of a notebook is that until it pauses, and of a TensorBoard that until it ends", () => {
  const idle = { ...used, inUse: false, idleSeconds: 179.6 };
  expect(idleText(idle, notebook)).toBe("not used for 3m, pauses in 27m");
  expect(idleText(idle, { keepsWork: false })).toBe("not used for 3m, ends in 27m");
  expect(idleText({ ...idle, idleSeconds: 1_801 }, notebook)).toBe(
    "not used for 30m 1s, pauses now",
  );
});

test("a task in use says the time after which it pauses, and one without a limit says nothing", () => {
  expect(idleText(used, notebook)).toBe("in use, pauses after 30m without use");
  expect(idleText({ ...used, idleTimeoutSeconds: 0 }, notebook)).toBe("");
});

test("the folder has its size and its files, if the agent knows them", () => {
  expect(folderText({ ...used, folderBytes: 1_536, folderFiles: 1 })).toBe("1.5 KiB, 1 file");
  expect(folderText(used)).toBe("");
  expect(folderText(undefined)).toBe("");
});

test("the last save has its age, its size and its files", () => {
  const save = { checkpoint: "1", run: 2, files: 1_200, bytes: 3_145_728, savedAtMs: 0 };
  expect(savedText(save, 120_000)).toBe("2m ago, 3 MiB, 1,200 files");
  expect(savedText(undefined, 0)).toBe("");
});
