import { expect, test } from "vitest";
import { type DeviceProcess, foreignUse, isForeign, type RunOnDevices } from "./device-use.ts";

const runOf = (
  number: number,
  slots: readonly string[],
  pids: readonly number[],
): RunOnDevices => ({
  key: `key-${number}`,
  allocation: `${number}.1#1`,
  slots,
  pids: new Set(pids),
});
const on = (device: string, pid: number): DeviceProcess => ({ device, pid, name: "python" });

const first = runOf(1, ["GPU-a"], [10, 11]);
const second = runOf(2, ["GPU-b", "GPU-c"], [20]);
const runs = [first, second];

test("a run's processes on the devices of its slots are no foreign ones", () => {
  expect(isForeign(on("GPU-a", 11), runs)).toBe(false);
  expect(
    [on("GPU-b", 11), on("GPU-a", 20), on("GPU-a", 99)].map((p) => isForeign(p, runs)),
  ).toEqual([true, true, true]);
});

test("a process on a device of another run is named to both runs, and the device stays with its run", () => {
  const { toRuns, busy, notices } = foreignUse([on("GPU-b", 10)], runs);
  expect([...toRuns]).toEqual([
    [first.key, ["process 10 (python) of this run uses GPU-b, which no slot of it has"]],
    [second.key, ["process 10 (python) of run 1.1#1 uses GPU-b of this run"]],
  ]);
  expect(busy.size).toBe(0);
  expect(notices).toEqual(["process 10 (python) of run 1.1#1 uses GPU-b, which run 2.1#1 has"]);
});

test("a process of no run is named to the run that has the device", () => {
  const { toRuns, notices } = foreignUse([on("GPU-a", 99)], runs);
  expect([...toRuns]).toEqual([
    [first.key, ["process 99 (python) of no run uses GPU-a of this run"]],
  ]);
  expect(notices).toEqual(["process 99 (python) of no run uses GPU-a, which run 1.1#1 has"]);
});

test("a device that no run has is busy with the first of its processes", () => {
  const { toRuns, busy, notices } = foreignUse([on("GPU-d", 99), on("GPU-d", 10)], runs);
  expect([...busy]).toEqual([["GPU-d", "process 99 (python) of no run uses it"]]);
  expect([...toRuns.keys()]).toEqual([first.key]);
  expect(notices).toEqual([]);
});
