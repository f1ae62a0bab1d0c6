import { checkpointHazards } from "./checkpoint-hazards.ts";
import { clockHazards } from "./clock-hazards.ts";
import type { Hazard } from "./hazard.ts";
import { hazards } from "./hazards.ts";
import { lifeHazards } from "./life-hazards.ts";
import { refusalHazards } from "./refusal-hazards.ts";
import { reportHazards } from "./report-hazards.ts";
import { restoredHazards } from "./restored-hazards.ts";
import { stopHazards } from "./stop-hazards.ts";

/** The hazards of all files. */
export const allHazards: readonly Hazard[] = [
  ...hazards,
  ...reportHazards,
  ...checkpointHazards,
  ...restoredHazards,
  ...clockHazards,
  ...refusalHazards,
  ...stopHazards,
  ...lifeHazards,
];
