import { expect, test } from "vitest";
import { firstAbort } from "./first-abort.ts";

test("firstAbort aborts once, with the first signal and its reason", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const signal = firstAbort(one.signal, other.signal);
  let times = 0;
  signal.addEventListener("abort", () => (times += 1));
  expect(signal.aborted).toBe(false);
  other.abort("other");
  one.abort("one");
  expect([signal.aborted, signal.reason, times]).toEqual([true, "other", 1]);
});

test("firstAbort is aborted from the start if one of its signals is", () => {
  expect(firstAbort(new AbortController().signal, AbortSignal.abort("before")).reason).toBe(
    "before",
  );
});
