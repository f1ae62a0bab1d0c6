import { expect, test } from "vitest";
import { WatchQueue } from "./watch-queue.ts";

test("a failed queue drops the frames that its client has not read, and then throws", async () => {
  const queue = new WatchQueue(130);
  const reading = queue.frames(new AbortController().signal);
  expect(queue.push([{ text: "a" }])).toBe(true);
  expect((await reading.next()).value).toMatchObject({ text: "a" });
  expect(queue.push([{ text: "bcde" }])).toBe(false);
  queue.fail(new Error("too slow"));
  await expect(reading.next()).rejects.toThrow("too slow");
});
