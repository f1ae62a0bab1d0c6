import { createMemoryBlobStore } from "@trainyard/blob/testing";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Executor, FoldCache } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { Backend } from "../backend.ts";
import type { RequestContext } from "../http/request-context.ts";
import { EnvironmentCache, recordEnvironment } from "./environments.ts";

test("an environment of several experiments is read once, and another one when it is recorded", async () => {
  const log = createMemoryLog().as("gateway");
  const executor = new Executor(log, new FoldCache(log));
  const stored = createMemoryBlobStore();
  const read: string[] = [];
  const get: typeof stored.get = (key) => {
    read.push(key);
    return stored.get(key);
  };
  const parts = { executor, clock: systemClock, blobs: { ...stored, get } };
  const backend = { parts } as unknown as Backend;
  const record = (run: string, torch: string) => {
    const context = { commitId: newEventId(), caller: { authid: "ada" }, traceparent: "" };
    const [experiment = ""] = run.split(".");
    const environment = { run, python: "3.12.4", packages: { torch } };
    return recordEnvironment(backend, experiment, environment, context as RequestContext);
  };
  await record("1.1#1", "2.0");
  await record("2.1#1", "2.0");
  const kept = new EnvironmentCache();
  const latest = (experiment: string) => kept.latestOf(backend, experiment);
  const first = { python: "3.12.4", packages: { torch: "2.0" } };
  for (const experiment of ["1", "2", "1"]) {
    expect(await latest(experiment)).toEqual({ ...first, run: `${experiment}.1#1` });
  }
  expect(read.length).toBe(1);
  await record("1.2#1", "2.1");
  expect(await latest("1")).toMatchObject({ run: "1.2#1", packages: { torch: "2.1" } });
  expect(await latest("3")).toBeNull();
  expect(read.length).toBe(2);
});
