import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { Undelivered } from "./undelivered.ts";

function runWith(allocation: string, ...bytes: readonly number[]) {
  const looks: boolean[] = [];
  const sealed = bytes.map((size, index) => ({
    checkpoint: `c${index}`,
    step: index,
    bytes: size,
  }));
  const undelivered = (look: boolean) => {
    looks.push(look);
    return sealed.length === 0 ? undefined : { checkpoints: sealed };
  };
  return { allocation, looks, undelivered };
}

test("the undelivered checkpoints of all runs are counted, with their bytes and runs", () => {
  const count = new Undelivered();
  const runs = [runWith("12.2#1", 5), runWith("12.3#1"), runWith("12.1#1", 1, 2)];
  expect(count.count(runs, 0)).toEqual({
    undelivered: { checkpoints: 3, bytes: 8, runs: ["12.1#1", "12.2#1"] },
  });
  expect(count.count([runWith("12.3#1")], 0)).toEqual({});
});

test("the disk is read only now and then", () => {
  const count = new Undelivered();
  const run = runWith("12.1#1", 1);
  for (let report = 0; report < 3; report += 1) count.count([run], report);
  count.count([run], limits.undeliveredLookMs);
  expect(run.looks).toEqual([true, false, false, true]);
});

test("a report names a limited number of runs and counts all", () => {
  const number = limits.undeliveredRunsMax + 1;
  const runs = Array.from({ length: number }, (_, n) => runWith(`12.${n + 1}#1`, 1));
  const { undelivered } = new Undelivered().count(runs, 0);
  expect(undelivered?.checkpoints).toBe(number);
  expect(undelivered?.runs).toHaveLength(limits.undeliveredRunsMax);
});
