import { expect, test } from "vitest";
import { mayReloadAt } from "./missing-file.ts";

test("a page is loaded again once, also when its connection hangs for minutes before it fails", () => {
  const now = Date.UTC(2026, 0, 1);
  expect(mayReloadAt(now, null)).toBe(true);
  const reloaded = String(now);
  expect(mayReloadAt(now + 10 * 60_000, reloaded)).toBe(false);
  expect(mayReloadAt(now + 24 * 3_600_000, reloaded)).toBe(true);
});
