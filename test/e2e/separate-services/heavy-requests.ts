/** Tests one route of each class of cost with requests at its limits. */
import { expect, test } from "vitest";
import { heavyRequests } from "../../heavy/heavy.ts";
import { gentle } from "../../heavy/sizes.ts";
import { world } from "./cluster.ts";

test("requests at the limits of a route of each class are no 500, take no lease and end no process", async () => {
  const lines: string[] = [];
  const { violations } = await heavyRequests(world, {
    ...gentle,
    log: (line) => lines.push(line),
  });
  expect(violations, lines.join("\n")).toEqual([]);
});
