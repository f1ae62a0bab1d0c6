import { expect, test } from "vitest";
import { pagePorts } from "./page-ports.ts";

const ports = [
  { port: 8080, isTcp: false },
  { port: 22, isTcp: true },
];

test("the pages of a running task are its own and those of its HTTP ports", () => {
  const task = { id: "t1", state: "RUNNING", ports };
  expect(pagePorts({ ...task, hasPage: false })).toEqual([8080]);
  expect(pagePorts({ ...task, hasPage: true })).toEqual([0, 8080]);
});

test("a notebook whose server does not answer yet has no page to open", () => {
  expect(pagePorts({ id: "t1", state: "STARTING", ports, hasPage: true })).toEqual([]);
});
