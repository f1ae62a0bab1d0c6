import { expect, test } from "vitest";
import { WorkerCall } from "./worker-call.ts";

const newCall = () =>
  new WorkerCall<number, number>(
    new URL("../testing/example-worker.ts", import.meta.url),
    "doubles numbers",
  );

test("concurrent questions to a worker each get the right answer", async () => {
  await using call = newCall();
  expect(await Promise.all([call.ask(1), call.ask(2), call.ask(3)])).toEqual([2, 4, 6]);
});

test("a question on which the worker throws is rejected, and the same thread answers the next one", async () => {
  await using call = newCall();
  await expect(call.ask(-1)).rejects.toMatchObject({
    code: "worker_failed",
    message: expect.stringContaining("a number below zero") as string,
  });
  expect(await call.ask(4)).toBe(8);
});

test("when a worker exits, its open questions are rejected, and a new worker answers the next one", async () => {
  await using call = newCall();
  const lost = { code: "worker_lost", message: "the thread that doubles numbers ended" };
  const asked = [call.ask(0), call.ask(1)];
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: lost });
  }
  expect(await call.ask(5)).toBe(10);
});

test("when a worker is disposed of, its open questions are rejected", async () => {
  const call = newCall();
  expect(await call.ask(1)).toBe(2);
  const asked = expect(call.ask(2)).rejects.toMatchObject({ code: "worker_lost" });
  await call[Symbol.asyncDispose]();
  await asked;
});
