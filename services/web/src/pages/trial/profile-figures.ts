/** Groups a trial's profile for its page. */
import type { ReplyOf } from "@trainyard/contracts";
import type { SparkPoint } from "../../canvas/sparkline.ts";
import type { Line } from "../../components/chart/line.ts";
import { bytes, number } from "../../components/format.ts";

type Summary = ReplyOf<"getTrialProfile">["summaries"][number];
export type SystemPoint = ReplyOf<"listTrialSystemMetrics">["items"][number];

type Quantity = {
  readonly node: number;
  readonly group: string;
  readonly device: string;
  readonly name: string;
};

export const quantityKey = ({ node, group, device, name }: Quantity): string =>
  JSON.stringify([node, group, device, name]);

/** Returns the devices of a run: each node as a whole, followed by its devices. */
export function devicesOf(
  summaries: readonly Summary[],
): readonly { readonly title: string; readonly summaries: readonly Summary[] }[] {
  const grouped = Map.groupBy(summaries, ({ node, agent, device }) => {
    const place = `Node ${node}, ${agent}`;
    return device === "" ? place : `${place}, GPU ${device}`;
  });
  return [...grouped].map(([title, some]) => ({ title, summaries: some }));
}

export type Curve = readonly SparkPoint[];

/** The curve of each quantity of one run, by quantityKey. */
export function curvesOf(points: readonly SystemPoint[], run: number): ReadonlyMap<string, Curve> {
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

/** The group and the quantity, without its unit. */
export function quantityText(group: string, name: string): string {
  const words = name.replace(/_(percent|bytes|bytes_per_second|watts|celsius)$/, "");
  return `${group} ${words.replaceAll("_", " ")}`;
}

/** A curve as a line of a chart, in a unit whose numbers are short. */
export function lineOfCurve(
  group: string,
  name: string,
  curve: Curve,
): { readonly unit: string; readonly line: Line } {
  const most = curve.reduce((least, { max }) => Math.max(least, Math.abs(max)), 0);
  const { unit, size } = unitOf(name, most);
  const x = curve.map((point) => point.x);
  const line: Line = {
    ...{ id: name, of: name, label: quantityText(group, name), look: 1, group: "" },
    ...{ x, from: x, to: x, count: x.map(() => 1) },
    y: curve.map(({ mean }) => mean / size),
    low: curve.map(({ min }) => min / size),
    high: curve.map(({ max }) => max / size),
    // A count above the number of buckets makes the chart draw the band from minimum to maximum.
    points: curve.length + 1,
    marks: [],
  };
  return { unit, line };
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"] as const;
const otherUnits = [
  ["_percent", "%"],
  ["_celsius", "°C"],
  ["_watts", "W"],
] as const;

function unitOf(name: string, most: number): { readonly unit: string; readonly size: number } {
  const perSecond = name.endsWith("_bytes_per_second");
  if (!perSecond && !name.endsWith("_bytes")) {
    return { unit: otherUnits.find(([end]) => name.endsWith(end))?.[1] ?? "", size: 1 };
  }
  const thousands = most < 1 ? 0 : Math.floor(Math.log2(most) / 10);
  const step = Math.min(thousands, byteUnits.length - 1);
  return { unit: `${byteUnits[step]}${perSecond ? "/s" : ""}`, size: 1_024 ** step };
}

/** Formats a value with the unit at the end of its name. */
export function measured(name: string, value: number): string {
  if (name.endsWith("_bytes_per_second")) return `${bytes(value)}/s`;
  if (name.endsWith("_bytes")) return bytes(value);
  if (name.endsWith("_percent")) return `${number(Math.round(value * 10) / 10)} %`;
  if (name.endsWith("_celsius")) return `${number(Math.round(value * 10) / 10)} °C`;
  if (name.endsWith("_watts")) return `${number(Math.round(value * 10) / 10)} W`;
  return number(Math.round(value * 1_000) / 1_000);
}
