/**
 * Runs a hazard's script once undisturbed and then repeatedly, each time with one trouble at another place: the process
 * dies, is paused for longer than its lease, or gets a fault, before or after one of its appends.
 */
import type { Hazard } from "./hazard.ts";
import { violationsOf } from "./invariants.ts";
import type { Trouble, Troubles } from "./mortal-log.ts";
import type { FanOutsWhere, ServiceName } from "./platform.ts";
import { Scene, sceneServices } from "./scene.ts";

/** Longer than a lease's 3 s, so that another replica holds it when the process continues. */
const stopMs = 5_000;

const troubles: readonly Trouble[] = [
  { kind: "death" },
  { kind: "stop", forMs: stopMs },
  { kind: "fault" },
];
const moments = ["before", "after"] as const;

export type Strike = {
  readonly service: ServiceName;
  /** The append at which the trouble strikes, counted over both replicas from 1. */
  readonly append: number;
  readonly moment: "before" | "after";
  readonly trouble: Trouble;
};

export type Swept = { readonly runs: number; readonly violations: readonly string[] };

/** Strikes at most this number of places, evenly spread; `offset` chooses which. */
export async function sweep(
  hazard: Hazard,
  strikesMax: number,
  offset: number,
  fanOuts: FanOutsWhere,
): Promise<Swept> {
  const undisturbed = await play(hazard, null, fanOuts);
  const violations = undisturbed.violations.map((what) => `undisturbed: ${what}`);
  const all = strikesOf(undisturbed.appends);
  const every = strideOf(all.length, strikesMax);
  const strikes = all.filter((_, n) => n % every === offset % every);
  for (const strike of strikes) {
    const { service, append, moment, trouble } = strike;
    const where = `${trouble.kind} of ${service} ${moment} its append ${append}`;
    const { violations: found } = await play(hazard, strike, fanOuts);
    violations.push(...found.map((what) => `${where}: ${what}`));
  }
  return { runs: strikes.length + 1, violations };
}

/** A stride that is no multiple of the number of troubles or moments, so that each of them occurs. */
function strideOf(places: number, strikesMax: number): number {
  let stride = Math.max(1, Math.ceil(places / strikesMax));
  while (stride > 1 && (stride % moments.length === 0 || stride % troubles.length === 0)) {
    stride += 1;
  }
  return stride;
}

type Appends = ReadonlyMap<ServiceName, number>;

function strikesOf(appends: Appends): readonly Strike[] {
  return sceneServices.flatMap((service) =>
    Array.from({ length: appends.get(service) ?? 0 }, (_, n) => n + 1).flatMap((append) =>
      moments.flatMap((moment) =>
        troubles.map((trouble) => ({ service, append, moment, trouble })),
      ),
    ),
  );
}

async function play(
  hazard: Hazard,
  strike: Strike | null,
  fanOuts: FanOutsWhere,
): Promise<{ readonly violations: readonly string[]; readonly appends: Appends }> {
  const appends = new Map<ServiceName, number>();
  const opened: { scene: Scene | null } = { scene: null };
  const troublesOf = (service: ServiceName): Troubles => {
    return (method, moment) => {
      if (method !== "append") return null;
      const count = (appends.get(service) ?? 0) + (moment === "before" ? 1 : 0);
      appends.set(service, count);
      if (strike?.service !== service) return null;
      if (strike.append !== count || strike.moment !== moment) return null;
      if (opened.scene !== null) hazard.onTrouble?.(opened.scene);
      return strike.trouble;
    };
  };
  const scene = await Scene.open(troublesOf, fanOuts);
  opened.scene = scene;
  try {
    await hazard.script(scene);
    await scene.rest();
  } catch (error) {
    return { violations: [error instanceof Error ? error.message : String(error)], appends };
  }
  return {
    violations: [...outcomesOf(hazard, scene), ...(await violationsOf(scene.log))],
    appends,
  };
}

function outcomesOf(hazard: Hazard, scene: Scene): readonly string[] {
  const { trial, experiment } = scene.outcome();
  const violations = [...(hazard.check?.(scene) ?? [])];
  if (hazard.trial !== "any" && trial !== hazard.trial) {
    violations.push(`the trial is ${trial}, wanted ${hazard.trial}`);
  }
  if (experiment !== hazard.experiment) {
    violations.push(`the experiment is ${experiment}, wanted ${hazard.experiment}`);
  }
  return violations;
}
