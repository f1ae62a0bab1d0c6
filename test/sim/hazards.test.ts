import { expect, test } from "vitest";
import { allHazards } from "./all-hazards.ts";
import { sweep } from "./sweep.ts";

/** The number of places where a trouble strikes; the campaign uses many more. */
const strikes = 5;

test.each(allHazards.map((hazard, n) => [hazard.name, hazard, n] as const))(
  "%s",
  async (_, hazard, n) => {
    const most = hazard.long === true ? 2 : strikes;
    const { violations } = await sweep(hazard, most, n, "in_reactions");
    expect(violations).toEqual([]);
    const large = await sweep(hazard, 2, n, "beside");
    expect(large.violations).toEqual([]);
  },
  120_000,
);
