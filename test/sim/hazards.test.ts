import { expect, test } from "vitest";
import { checkpointHazards } from "./checkpoint-hazards.ts";
import { hazards } from "./hazards.ts";
import { reportHazards } from "./report-hazards.ts";
import { sweep } from "./sweep.ts";

/** Of the places where a trouble may strike; the campaign takes many more. */
const strikes = 5;

test.each(
  [...hazards, ...reportHazards, ...checkpointHazards].map(
    (hazard, n) => [hazard.name, hazard, n] as const,
  ),
)(
  "%s",
  async (_, hazard, n) => {
    const { violations } = await sweep(hazard, hazard.long === true ? 2 : strikes, n);
    expect(violations).toEqual([]);
  },
  30_000,
);
