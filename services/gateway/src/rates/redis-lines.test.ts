import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { RedisLines } from "./redis-lines.ts";

function stage() {
  const clock = new ManualClock();
  const said: string[] = [];
  const logger = createLogger("gateway", "silent");
  for (const level of ["warn", "info"] as const) {
    logger[level] = (_: unknown, code = "") =>
      void said.push(`${clock.monotonicMs() / 1_000} ${code}`);
  }
  return { clock, said, lines: new RedisLines(clock, logger) };
}

test("a Redis that comes and goes all the time is logged once a minute each way", async () => {
  const { clock, said, lines } = stage();
  for (let second = 0; second < 121; second += 2) {
    lines.away(new Error("no answer within 50 ms"));
    await clock.advance(1_000);
    lines.back();
    await clock.advance(1_000);
  }
  expect(said).toEqual([
    "0 redis_away",
    "1 redis_is_back",
    "60 redis_away",
    "61 redis_is_back",
    "120 redis_away",
    "121 redis_is_back",
  ]);
});

test("a change within the minute is logged at its end if it is still so", async () => {
  const { clock, said, lines } = stage();
  lines.away("refused");
  await clock.advance(1_000);
  lines.back();
  await clock.advance(1_000);
  lines.away("refused");
  await clock.advance(100_000);
  lines.back();
  lines.away("refused");
  await clock.advance(100_000);
  expect(said).toEqual([
    "0 redis_away",
    "1 redis_is_back",
    "60 redis_away",
    "102 redis_is_back",
    "120 redis_away",
  ]);
  lines[Symbol.dispose]();
});
