import { expect, test } from "vitest";
import { offeredWorkspaces } from "./offered-workspaces.ts";

const listOf = (nextPageToken: string, ...names: string[]) => ({
  ...{ items: names.map((name) => ({ name })), nextPageToken },
});
const everything = (): boolean => true;

test("a form offers the workspaces in which the person may do what the form does", () => {
  const list = listOf("", "audio", "default", "vision");
  expect(offeredWorkspaces(list, (workspace) => workspace !== "audio")).toEqual([
    "default",
    "vision",
  ]);
  expect(offeredWorkspaces(list, () => false)).toEqual([]);
  expect(offeredWorkspaces(listOf("", "audio"), everything)).toEqual(["audio"]);
});

test("a form offers default also if it is behind the first page of the workspaces", () => {
  expect(offeredWorkspaces(listOf("more", "audio"), everything)).toEqual(["audio", "default"]);
  expect(offeredWorkspaces(listOf("more", "default", "audio"), everything)).toEqual([
    "default",
    "audio",
  ]);
  expect(offeredWorkspaces(listOf("more", "audio"), (name) => name === "audio")).toEqual(["audio"]);
});

test("a form offers default if the workspaces cannot be read", () => {
  expect(offeredWorkspaces(undefined, everything)).toEqual(["default"]);
});
