/** The stored points as the API lists them, compared with the reports and with the messages to subscribers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { MetricPoint } from "@trainyard/contracts/api";
import { clusterStatus } from "@trainyard/local-cluster";
import { runToken } from "@trainyard/runtime";
import { eventually } from "../world/eventually.ts";
import { grantOf } from "../world/run-grant.ts";
import type { World } from "../world/world.ts";
import type { Destination, Report } from "./reporters.ts";
import type { Heard, Subscriber } from "./subscribers.ts";

const read = (world: World, name: string): unknown =>
  JSON.parse(readFileSync(join(world.home, name), "utf8"));

/** Returns the key that signs the tokens of runs. */
export function runTokenKeyOf(world: World): { readonly id: string; readonly secret: Buffer } {
  const { runTokenKey } = read(world, "secrets.json") as {
    readonly runTokenKey: { readonly id: string; readonly secretHex: string };
  };
  return { id: runTokenKey.id, secret: Buffer.from(runTokenKey.secretHex, "hex") };
}

/** The addresses for a run's reports, with its token. */
export async function destinationOf(world: World, run: string): Promise<Destination> {
  const { metrics: port } = read(world, "ports.json") as { readonly metrics: number };
  const key = runTokenKeyOf(world);
  const grpc = (await clusterStatus(world.home))?.metricsGrpc ?? "";
  return {
    http: `http://127.0.0.1:${port}`,
    grpc,
    run,
    token: runToken(key, await grantOf(world.client, run)),
  };
}

export type Stored = Plain<MetricPoint>;

/** With `superseded`, points that a later run of the trial superseded are included. */
export async function storedPoints(
  world: World,
  trials: readonly string[],
  superseded = true,
): Promise<readonly Stored[]> {
  const points: Stored[] = [];
  for (const trial of trials) {
    for (let pageToken = ""; ; ) {
      const request = { trial, superseded, pageSize: 1_000, pageToken };
      const page = await world.client.call("listTrialMetrics", request, { outlast: true });
      points.push(...page.items);
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
  }
  return points;
}

export function untilAllHeard(subscribers: readonly Subscriber[], count: number): Promise<void> {
  return eventually(
    "each subscriber has got everything",
    async () => subscribers.every(({ heard }) => pointsIn(heard).length >= count),
    60_000,
  );
}

const pointsIn = (heard: readonly Heard[]): readonly Stored[] =>
  heard.flatMap(({ point }) => (point === undefined ? [] : [point]));

/**
 * Checks a subscriber: its positions are 1, 2, 3, …, with one leap at most per restart of PostgreSQL, and its points
 * those of the table.
 */
export function violationsOf(
  { name, heard }: Subscriber,
  stored: readonly Stored[],
  restarts: number,
): readonly string[] {
  const before = (index: number): number => heard[index - 1]?.position ?? 0;
  const wrong = heard.findIndex(({ position }, index) => position <= before(index));
  const leaps = heard.filter(({ position }, index) => position > before(index) + 1).length;
  const told = pointsIn(heard).map(textOfPoint);
  return [
    ...(wrong < 0 ? [] : [`${name}: position ${heard[wrong]?.position} after ${before(wrong)}`]),
    ...(leaps <= restarts ? [] : [`${name}: ${leaps} leaps of the position, ${restarts} restarts`]),
    ...differences(name, told, stored.map(textOfPoint)),
  ];
}

export function differences(
  what: string,
  found: readonly string[],
  expected: readonly string[],
): readonly string[] {
  const left = new Map<string, number>();
  for (const text of expected) left.set(text, (left.get(text) ?? 0) + 1);
  const violations: string[] = [];
  for (const text of found) {
    const count = left.get(text) ?? 0;
    if (count === 0) violations.push(`${what} has what it should not have, or twice: ${text}`);
    left.set(text, count - 1);
  }
  for (const [text, count] of left) if (count > 0) violations.push(`${what} lacks ${text}`);
  return violations;
}

/** A point as text, the same for a report, a stored point and a message about it. */
function textOf(trial: string, key: string, ...rest: readonly unknown[]): string {
  return JSON.stringify([trial, key, ...rest], (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

const inOrder = (values: object): unknown =>
  Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));

export function textOfReport(trial: string, report: Report): string {
  const { key, group, stepsCompleted, atMs, metrics } = report;
  return textOf(trial, key, group, stepsCompleted, atMs, inOrder(metrics));
}

export function textOfPoint(point: Stored): string {
  const { trial, key, group, stepsCompleted, reportedAtMs, metrics, others } = point;
  return textOf(
    trial,
    key,
    group,
    stepsCompleted,
    reportedAtMs,
    inOrder({ ...metrics, ...others }),
  );
}
