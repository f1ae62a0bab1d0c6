import { expect, test } from "vitest";
import { boardOf, boardsFilter } from "./board-of.ts";

const board = (id: string, state: string, ...sources: string[]) => ({
  ...{ id, state, sources },
  owner: "ada",
});
const isOwn = (owner: string): boolean => owner === "ada";

test("the TensorBoard of an experiment shows it and nothing else, and runs if one does", () => {
  const queued = board("t3", "QUEUED", "12");
  const running = board("t1", "RUNNING", "12");
  const others = [board("t4", "RUNNING", "12", "13"), board("t2", "RUNNING", "12.3")];
  expect(boardOf([...others, queued, running], ["12"], isOwn)).toBe(running);
  expect(boardOf([...others, queued], ["12"], isOwn)).toBe(queued);
  expect(boardOf(others, ["12"], isOwn)).toBeUndefined();
  expect(boardOf(others, ["12.3"], isOwn)).toBe(others[1]);
});

test("the TensorBoard of several trials is the same in any order of them", () => {
  const two = board("t5", "RUNNING", "12.3", "12.1");
  expect(boardOf([board("t6", "RUNNING", "12.1"), two], ["12.1", "12.3"], isOwn)).toBe(two);
  expect(boardOf([two], ["12.1", "12.2"], isOwn)).toBeUndefined();
});

test("the TensorBoard of another person is not opened, since only its owner opens a task", () => {
  const others = { ...board("t7", "RUNNING", "12"), owner: "bo" };
  const own = board("t8", "QUEUED", "12");
  expect(boardOf([others], ["12"], isOwn)).toBeUndefined();
  expect(boardOf([others, own], ["12"], isOwn)).toBe(own);
});

test("the TensorBoards that are looked through are the person's own in a cluster with users", () => {
  expect(boardsFilter("ada@lab")).toMatch(/\) and owner = "ada@lab"$/);
  expect(boardsFilter(undefined)).not.toContain("owner");
});
