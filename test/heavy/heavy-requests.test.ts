import { BodyLimit } from "@trainyard/contracts/routes";
import { expect, test } from "vitest";
import { bodyBytesMaxOf, heavyKinds } from "./heavy-requests.ts";
import { fieldsWithoutObject } from "./objects.ts";
import { heavyRoutes, nameOf, oneOfEachCost } from "./routes.ts";

test("every field of a path has an object that heavy requests name", () => {
  const without = heavyRoutes.flatMap((one) =>
    fieldsWithoutObject(one).map((field) => `${nameOf(one)} ${field}`),
  );
  expect(without).toEqual([]);
});

test("every route has heavy requests, whose bodies come close to its limit and exceed it only to be refused", () => {
  for (const one of heavyRoutes) {
    const { route } = one;
    // Bodies of 132 MiB take seconds.
    if (route.facts.bodyLimit === BodyLimit.LARGE) continue;
    const limit = bodyBytesMaxOf(route);
    for (const { name, make } of heavyKinds(route, {})) {
      const requests = make();
      expect(requests.length, `${nameOf(one)}: ${name}`).toBeGreaterThan(0);
      const sizes = requests.map(({ body }) => body?.length ?? 0);
      expect(Math.max(...sizes), `${nameOf(one)}: ${name}`).toBeLessThanOrEqual(limit + 1);
      const longest = Math.max(...requests.map(({ path }) => path.length));
      expect(longest, `${nameOf(one)}: ${name}`).toBeLessThan(16 * 1024);
    }
  }
});

test("one route of each class of cost is chosen", () => {
  expect(oneOfEachCost().length).toBeGreaterThanOrEqual(12);
});
