import type { Locator } from "playwright-core";
import { expect } from "vitest";

/** Expects that a change moves an element by no pixel: compares its place before and after. */
export async function expectStill(element: Locator, change: () => Promise<void>): Promise<void> {
  const before = await element.boundingBox();
  expect(before).not.toBeNull();
  await change();
  expect(await element.boundingBox()).toEqual(before);
}
