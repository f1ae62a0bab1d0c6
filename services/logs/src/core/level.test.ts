import { LogLevel } from "@trainyard/contracts/commands";
import { expect, test } from "vitest";
import { levelOf } from "./level.ts";

const cases: readonly (readonly [string, LogLevel])[] = [
  ["", LogLevel.UNSPECIFIED],
  ["loss 0.25", LogLevel.UNSPECIFIED],
  ["2026-11-22 10:00:00,123 WARNING data.py: a shard is slow", LogLevel.WARNING],
  ["[rank=3] [INFO] epoch 4", LogLevel.INFO],
  ["INFO:root:epoch 4", LogLevel.INFO],
  ["DEBUG after an ERROR was handled", LogLevel.DEBUG],
  ["\u001b[31mERROR\u001b[0m out of shards", LogLevel.ERROR],
  ["CRITICAL disk", LogLevel.CRITICAL],
  ["FATAL: no device", LogLevel.CRITICAL],
  ["Traceback (most recent call last):", LogLevel.ERROR],
  ["[rank=0] Traceback (most recent call last):", LogLevel.ERROR],
  ["torch.OutOfMemoryError: CUDA out of memory.", LogLevel.ERROR],
  ["KeyError", LogLevel.ERROR],
  ['{"time": 1, "level": "warn", "msg": "x"}', LogLevel.WARNING],
  ['ts=1 level=debug msg="an ERROR elsewhere"', LogLevel.DEBUG],
  ["severity=NOTICE ready", LogLevel.INFO],
  ["W1122 10:00:00.123 1 x.cc:12] slow", LogLevel.WARNING],
  ["E1122 10:00:00.123 1 x.cc:12] gone", LogLevel.ERROR],
  ["/usr/lib/x.py:12: UserWarning: deprecated", LogLevel.WARNING],
  ["the error is small", LogLevel.UNSPECIFIED],
  ["INFORMATION on TERRORS", LogLevel.UNSPECIFIED],
  ["level 3 of the game", LogLevel.UNSPECIFIED],
  [`${"x".repeat(65)} ERROR`, LogLevel.UNSPECIFIED],
];

test.each(cases)("the level of a line is read from its beginning: %j", (text, level) => {
  expect(levelOf(text)).toBe(level);
});

test("reading a level takes the same time for a line of any length and content", () => {
  const hostile = [
    "a".repeat(65_536),
    ".".repeat(65_536),
    '"level'.repeat(10_000),
    "\u001b[".repeat(30_000),
  ];
  const beganMs = performance.now();
  for (const text of hostile) for (let n = 0; n < 100; n += 1) levelOf(text);
  expect(performance.now() - beganMs).toBeLessThan(1_000);
});
