/** A trial's profile, grouped as its page shows it. */
import type { ReplyOf } from "@trainyard/contracts";
import type { SparkPoint } from "../../canvas/sparkline.ts";
import { bytes, number } from "../../components/format.ts";

type TrialProfile = ReplyOf<"getTrialProfile">;
type Summary = TrialProfile["summaries"][number];
export type SystemPoint = ReplyOf<"listTrialSystemMetrics">["items"][number];

/** The runs that have figures, in order. */
export function profiledRuns(profile: TrialProfile | undefined): readonly number[] {
  const runs = new Set(profile?.summaries.map(({ run }) => run));
  return [...runs].toSorted((one, other) => one - other);
}

type Quantity = {
  readonly node: number;
  readonly group: string;
  readonly device: string;
  readonly name: string;
};

export const quantityKey = ({ node, group, device, name }: Quantity): string =>
  JSON.stringify([node, group, device, name]);

/** Of one run: each node as a whole, then each of its devices. */
export function devicesOf(
  summaries: readonly Summary[],
  run: number,
): readonly { readonly title: string; readonly summaries: readonly Summary[] }[] {
  const own = summaries.filter((summary) => summary.run === run);
  const grouped = Map.groupBy(own, ({ node, agent, device }) => {
    const place = `Node ${node}, ${agent}`;
    return device === "" ? place : `${place}, GPU ${device}`;
  });
  return [...grouped].map(([title, some]) => ({ title, summaries: some }));
}

/** The curve of each quantity of one run, by quantityKey. */
export function curvesOf(
  points: readonly SystemPoint[],
  run: number,
): ReadonlyMap<string, readonly SparkPoint[]> {
  const curves = new Map<string, SparkPoint[]>();
  for (const { run: of, group, reportedAtMs, sample } of points) {
    if (of !== run || sample === undefined) continue;
    for (const { name, min, mean, max } of sample.values) {
      const key = quantityKey({ node: sample.node, group, device: sample.device, name });
      const curve = curves.get(key) ?? [];
      curves.set(key, curve);
      curve.push({ x: reportedAtMs, min, mean, max });
    }
  }
  return curves;
}

/** A value with its unit, which its name ends in. */
export function measured(name: string, value: number): string {
  if (name.endsWith("_bytes_per_second")) return `${bytes(value)}/s`;
  if (name.endsWith("_bytes")) return bytes(value);
  if (name.endsWith("_percent")) return `${number(Math.round(value * 10) / 10)} %`;
  if (name.endsWith("_celsius")) return `${number(Math.round(value * 10) / 10)} °C`;
  if (name.endsWith("_watts")) return `${number(Math.round(value * 10) / 10)} W`;
  return number(Math.round(value * 1_000) / 1_000);
}
