import { expect, test } from "vitest";
import { type HeavyRequest, heavyKinds } from "./heavy-requests.ts";
import { fieldsWithoutObject } from "./objects.ts";
import { heavyRoutes, nameOf, oneOfEachCost } from "./routes.ts";

/** The bytes of the bodies. A large page has its own size. */
const made = (name: string, requests: readonly HeavyRequest[]): readonly number[] =>
  name === "many large items" ? [] : requests.map(({ body }) => body?.length ?? 0);

test("every field of a path has an object that heavy requests name", () => {
  const without = heavyRoutes.flatMap((one) =>
    fieldsWithoutObject(one).map((field) => `${nameOf(one)} ${field}`),
  );
  expect(without).toEqual([]);
});

test("every route has heavy requests, whose bodies exceed their limit by one byte to be refused", () => {
  const limit = 1024 * 1024;
  for (const one of heavyRoutes) {
    const kinds = heavyKinds(one.route, {}, limit);
    const requests = kinds.flatMap(({ name, make }) => made(name, make()));
    expect(requests.length, nameOf(one)).toBeGreaterThan(10);
    if (one.route.hasBody) expect(Math.max(...requests), nameOf(one)).toBe(limit + 1);
  }
});

test("one route of each class of cost is chosen", () => {
  expect(oneOfEachCost().length).toBeGreaterThanOrEqual(12);
});
