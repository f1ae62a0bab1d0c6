import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { endsWithInput } from "./ends-with-input.ts";
import { allProcesses } from "./process-identity.ts";
import { waitUntil } from "./wait.ts";

/** Starts a shell script that ends with its input, and waits for its first line. */
async function started(script: string, limitMs: number, mark: string) {
  const command = { program: "/bin/sh", parameters: ["-c", script, mark] };
  const { program, parameters } = endsWithInput(command, "INT", limitMs);
  const child: ChildProcessWithoutNullStreams = spawn(program, parameters);
  const end = once(child, "exit");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, end, line: line.toString().trim() };
}

const left = (mark: string): number =>
  allProcesses().filter(({ argv }) => argv.includes(mark)).length;

test("a program ends by the signal when its input ends, and its watcher with it", async () => {
  const mark = "ends-by-signal";
  const script = "trap 'exit 3' INT; echo $$; while :; do sleep 0.05; done";
  const { child, end, line } = await started(script, 60_000, mark);
  expect(Number(line)).toBe(child.pid);
  expect(left(mark)).toBe(2);
  child.stdin.destroy();
  expect(await end).toEqual([3, null]);
  expect(await waitUntil(() => left(mark) === 0, 90_000)).toBe(true);
});

test("a program that ignores the signal is killed after the limit", async () => {
  const { child, end } = await started("trap '' INT; echo up; exec sleep 1000", 1_000, "ignores");
  child.stdin.destroy();
  expect(await end).toEqual([null, "SIGKILL"]);
});

test("a program that ends by itself keeps its exit code, and its watcher ends", async () => {
  const mark = "ends-by-itself";
  const { end } = await started("echo up; exit 7", 60_000, mark);
  expect(await end).toEqual([7, null]);
  expect(await waitUntil(() => left(mark) === 0, 90_000)).toBe(true);
});
