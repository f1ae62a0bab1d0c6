import { expect, test } from "vitest";
import { addressedBy, hostOfTask } from "./task-host.ts";

const domain = "tasks.example.org";

test.each([
  ["t12.localhost:8080", "t12", 0],
  ["T12.LocalHost:8080", "t12", 0],
  ["t12-8888.localhost", "t12", 8888],
  ["t12.tasks.example.org", "t12", 0],
  ["t12-6006.tasks.example.org:443", "t12", 6006],
])("%s is the host of a task", (header, task, port) => {
  const host = header.toLowerCase();
  expect(addressedBy(header, domain)).toEqual({ kind: "task", task, port, host });
});

test.each([
  undefined,
  "",
  "127.0.0.1:8080",
  "localhost:8080",
  "[::1]:8080",
  "trainyard.example.org",
  "example.org",
  "t12.example.org",
  "t12.localhost.example.org",
  "xtasks.example.org",
])("%s is a host of the platform", (header) => {
  expect(addressedBy(header, domain)).toEqual({ kind: "platform" });
});

test.each([
  "t0.localhost",
  "12.localhost",
  "api.localhost",
  "t12.t13.localhost",
  "t12-0.localhost",
  "t12-65536.localhost",
  "t12-8080-9.localhost",
  "t12.localhost.",
  "t12.localhost.:8080",
  "tasks.example.org",
  "tasks.example.org.",
  "a.tasks.example.org",
  ".localhost",
])("%s belongs to a task domain, and nothing is served there", (header) => {
  expect(addressedBy(header, domain)).toEqual({ kind: "nothing" });
});

test("a domain is none of ours without the setting", () => {
  expect(addressedBy("t12.tasks.example.org", null)).toEqual({ kind: "platform" });
});

test.each([
  [0, null, "127.0.0.1:8080", "t7.localhost:8080"],
  [8888, null, "localhost:8080", "t7-8888.localhost:8080"],
  [0, domain, "trainyard.example.org", "t7.tasks.example.org"],
  [80, domain, "trainyard.example.org:8443", "t7-80.tasks.example.org:8443"],
])("a task's host for port %s, domain %s and the platform at %s is %s", (port, of, at, host) => {
  const task = "t7" as Parameters<typeof hostOfTask>[0]["task"];
  expect(hostOfTask({ task, port }, at, of)).toBe(host);
});
