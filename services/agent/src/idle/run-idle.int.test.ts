import { createServer } from "node:net";
import { join } from "node:path";
import { encodeFrame, frameTypes } from "@trainyard/terminal";
import { afterAll, describe, expect, test } from "vitest";
import type { TaskEndRecord } from "../core/records.ts";
import { configured, newFolder, removeFolders, taskOf } from "../testing/examples.ts";
import { PortUse } from "./port-use.ts";
import { inWords, intervalMsOf, RunIdle } from "./run-idle.ts";

afterAll(removeFolders);

const never = new AbortController().signal;
const minuteMs = 60_000;

/** A run of a shell with an idle_timeout of 30 minutes, and a holder that says when it was used while it listens. */
async function staged() {
  const path = newFolder();
  const task = { id: "t1", kind: "shell", secret: "", idleTimeoutSeconds: 1_800 };
  const launch = taskOf("shell", "", { ...configured({ preemption_timeout: 7 }), task });
  const ended: [TaskEndRecord, number][] = [];
  const end = (record: TaskEndRecord, graceMs: number): void => void ended.push([record, graceMs]);
  const stage = { upMs: 1_000_000, usedMs: 1_000_000 };
  const holder = createServer((socket) => {
    const payload = JSON.stringify({ idle_seconds: (stage.upMs - stage.usedMs) / 1_000 });
    socket.resume();
    socket.end(encodeFrame(frameTypes.use, new TextEncoder().encode(payload)));
  });
  const listen = (on: boolean) =>
    new Promise<void>((done) => {
      if (on) holder.listen(join(path, "holder.sock"), done);
      else holder.close(() => done());
    });
  await listen(true);
  const agent = () =>
    new RunIdle({ folder: { launch, path, runDir: path }, end }, () => stage.upMs);
  return Object.assign(stage, { agent, ended, listen, [Symbol.asyncDispose]: () => listen(false) });
}

describe("a run", () => {
  test("ends when nobody has used it for its idle_timeout, and the next agent knows since when", async () => {
    await using stage = await staged();
    const first = stage.agent();
    await first.look(never);
    stage.upMs += 5 * minuteMs;
    stage.usedMs = stage.upMs;
    await first.look(never);
    expect(first.fields).toMatchObject({ inUse: true, idleSeconds: 0, idleTimeoutSeconds: 1_800 });

    const next = stage.agent();
    stage.upMs += 29 * minuteMs;
    expect(next.fields).toMatchObject({ inUse: false, idleSeconds: 29 * 60 });
    await next.look(never);
    expect(stage.ended).toEqual([]);
    stage.upMs += minuteMs;
    await next.look(never);
    const message = "nobody used it for 30 minutes";
    expect(stage.ended).toEqual([[{ reason: "idle", message }, 7_000]]);
  });

  test("that does not answer is in use, and after 10 minutes people read it", async () => {
    await using stage = await staged();
    const run = stage.agent();
    await run.look(never);
    await stage.listen(false);
    stage.upMs += 60 * minuteMs;
    await run.look(never);
    expect(run.fields).toMatchObject({ inUse: true, idleSeconds: 0, notice: "" });
    stage.upMs += 12 * minuteMs;
    await stage.agent().look(never);
    await run.look(never);
    const notice =
      "it has not answered its agent for 12 minutes, so that it counts as used and does not end as idle";
    expect([run.fields, stage.agent().fields].map((one) => one.notice)).toEqual([notice, notice]);
    expect(stage.ended).toEqual([]);
    await stage.listen(true);
    await run.look(never);
    expect([run.fields.notice, stage.ended]).toEqual(["", []]);
  });
});

test.each([
  [1_800, "30 minutes"],
  [60, "1 minute"],
  [90, "90 seconds"],
  [7_200, "2 hours"],
  [86_400, "1 day"],
  [0.5, "0.5 seconds"],
])("a time of %d s is written in its largest unit: %s", (seconds, words) => {
  expect(inWords(seconds)).toBe(words);
});

test("a short idle_timeout is looked at more often", () => {
  expect([1_800_000, 8_000, 100].map(intervalMsOf)).toEqual([5_000, 2_000, 250]);
});

test("ports are used when bytes pass them, also on a stream that has closed between two looks", () => {
  let close = (): void => {};
  const stream = {
    bytesRead: 0,
    bytesWritten: 0,
    once: (_name: string, act: () => void) => ((close = act), stream),
  };
  const ports = new PortUse();
  ports.add(stream as never);
  expect(ports.agoMs(1_000)).toBeNull();
  stream.bytesWritten = 10;
  close();
  expect([ports.agoMs(2_000), ports.agoMs(5_000)]).toEqual([0, 3_000]);
});
