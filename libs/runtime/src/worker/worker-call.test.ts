import { expect, test } from "vitest";
import { WorkerCall } from "./worker-call.ts";

const newCall = () =>
  new WorkerCall<number, number>(
    new URL("../testing/example-worker.ts", import.meta.url),
    "doubles numbers",
  );

test("a worker answers each question with its own answer", async () => {
  await using call = newCall();
  expect(await Promise.all([call.ask(1), call.ask(2), call.ask(3)])).toEqual([2, 4, 6]);
});

test("a question that makes the worker throw is rejected, and the next is answered by the same thread", async () => {
  await using call = newCall();
  await expect(call.ask(-1)).rejects.toMatchObject({
    code: "worker_failed",
    message: expect.stringContaining("a number below zero") as string,
  });
  expect(await call.ask(4)).toBe(8);
});

test("a worker that ends rejects what it was asked, and a new one answers the next question", async () => {
  await using call = newCall();
  const lost = { code: "worker_lost", message: "the thread that doubles numbers ended" };
  const asked = [call.ask(0), call.ask(1)];
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: lost });
  }
  expect(await call.ask(5)).toBe(10);
});

test("a worker that is disposed of rejects what it was asked", async () => {
  const call = newCall();
  expect(await call.ask(1)).toBe(2);
  const asked = expect(call.ask(2)).rejects.toMatchObject({ code: "worker_lost" });
  await call[Symbol.asyncDispose]();
  await asked;
});
