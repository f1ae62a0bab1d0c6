import { expect, test } from "vitest";
import { boardOf } from "./board-of.ts";

const board = (id: string, state: string, ...sources: string[]) => ({ id, state, sources });

test("the TensorBoard of an experiment shows it and nothing else, and runs if one does", () => {
  const queued = board("t3", "QUEUED", "12");
  const running = board("t1", "RUNNING", "12");
  const others = [board("t4", "RUNNING", "12", "13"), board("t2", "RUNNING", "12.3")];
  expect(boardOf([...others, queued, running], ["12"])).toBe(running);
  expect(boardOf([...others, queued], ["12"])).toBe(queued);
  expect(boardOf(others, ["12"])).toBeUndefined();
  expect(boardOf(others, ["12.3"])).toBe(others[1]);
});

test("the TensorBoard of several trials is the same in any order of them", () => {
  const two = board("t5", "RUNNING", "12.3", "12.1");
  expect(boardOf([board("t6", "RUNNING", "12.1"), two], ["12.1", "12.3"])).toBe(two);
  expect(boardOf([two], ["12.1", "12.2"])).toBeUndefined();
});
