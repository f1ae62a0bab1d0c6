import { expect, test } from "vitest";
import { currentRunAt, withRequest } from "./run-requests.ts";

const requests = [
  { run: 1, position: 10 },
  { run: 2, position: 20 },
];

test("the order of the log decides which run was the newest at a report", () => {
  expect([9, 15, 20, 21].map((position) => currentRunAt(requests, position))).toEqual([0, 1, 1, 2]);
});

test("a repeated run request changes nothing", () => {
  expect(withRequest(requests, { run: 2, position: 20 })).toBe(requests);
  expect(withRequest(requests, { run: 3, position: 30 })).toEqual([
    ...requests,
    { run: 3, position: 30 },
  ]);
});
