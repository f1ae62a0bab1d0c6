/** Tests one route of each class of cost with requests at its limits, as fast as one caller can. */
import { expect, test } from "vitest";
import { heavyRequests } from "../../heavy/heavy.ts";
import { short } from "../../heavy/sizes.ts";
import { world } from "./cluster.ts";

test("requests at the limits of a route of each class are no 500, take no lease, and leave another caller its turns", async () => {
  const lines: string[] = [];
  const { violations } = await heavyRequests(world, {
    ...short,
    log: (line) => lines.push(line),
  });
  expect(violations, lines.join("\n")).toEqual([]);
});
