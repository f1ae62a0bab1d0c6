import { hazards } from "./hazards.ts";
import { clockHazards } from "./clock-hazards.ts";
import { refusalHazards } from "./refusal-hazards.ts";
import { restoredHazards } from "./restored-hazards.ts";
import { sweep } from "./sweep.ts";
const max = Number(process.argv[2] ?? 3);
const match = new RegExp(process.argv[3] ?? ".");
for (const hazard of [...restoredHazards, ...clockHazards, ...refusalHazards].filter((h) =>
  match.test(h.name),
))
  for (const where of ["in_reactions", "beside"] as const) {
    const t = performance.now();
    const { runs, violations } = await sweep(
      hazard,
      hazard.long ? Math.min(3, max) : max,
      1,
      where,
    );
    console.log(
      violations.length === 0 ? "ok  " : "FAIL",
      hazard.name,
      where,
      runs,
      Math.round(performance.now() - t) + " ms",
    );
    for (const v of violations.slice(0, 4)) console.log("      ", v);
  }
