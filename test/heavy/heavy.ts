/** Requests at the limits of routes, as fast as one caller can, beside another caller. */
import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../bench/support/measure.ts";
import type { World } from "../world/world.ts";
import type { BesideSample } from "./beside-main.ts";
import type { Force } from "./burst.ts";
import { HeavyCaller, OtherCaller } from "./callers.ts";
import { ClusterWatch } from "./cluster-watch.ts";
import { HeavyStage, type StageSize } from "./heavy-stage.ts";
import { valuesFor } from "./objects.ts";
import { costOf, type HeavyRoute, nameOf } from "./routes.ts";

export type HeavyOptions = {
  readonly routes: readonly HeavyRoute[];
  readonly size: StageSize;
  /** For each kind of request. */
  readonly force: Force;
  /** The time for the other caller alone before each route. */
  readonly aloneMs: number;
  /** The other caller's calls may take five times as long as alone, or five times as long as this. */
  readonly fastMs: number;
  readonly log: (line: string) => void;
};

export type HeavyResult = { readonly violations: readonly string[]; readonly summary: string };

const slowdownMax = 5;
const memoryMaxMib = 1024;

export async function heavyRequests(world: World, options: HeavyOptions): Promise<HeavyResult> {
  const { routes, size, force, aloneMs, log } = options;
  const stage = new HeavyStage(world);
  await stage.fill(size);
  const { tokens, otherRun, heavyRun, large } = stage;
  await using heavy = new HeavyCaller();
  const person = { url: world.api, token: tokens.other, trial: `${large}.1` };
  await using other = new OtherCaller({ ...person, run: otherRun });
  await delay(aloneMs);
  using watch = await ClusterWatch.start(world);
  const found: string[] = [];
  const statuses: Record<string, Record<string, number>> = {};
  const alone: Span[] = [];
  const beside: (Span & { readonly route: string })[] = [];
  for (const one of routes) {
    const { route, of } = one;
    const values = await valuesFor(stage, one).catch((error: unknown) => {
      found.push(`objects for ${nameOf(one)} could not be made: ${String(error)}`);
      return null;
    });
    if (values === null) continue;
    alone.push(await spanOf(() => delay(aloneMs)));
    const isOfRun = route.facts.forRuns || of === "metrics";
    const order = {
      ...{ route: nameOf(one), values, force },
      url: of === "metrics" ? heavyRun.http : world.api,
      token: isOfRun ? heavyRun.token : tokens.heavy,
    };
    const span = await spanOf(async () => {
      const { counts } = await heavy.send(order);
      const cost = (statuses[`${of} ${costOf(route)}`] ??= {});
      for (const [kind, { statuses: all, violations }] of Object.entries(counts)) {
        for (const [status, count] of Object.entries(all))
          cost[status] = (cost[status] ?? 0) + count;
        found.push(...violations.map((violation) => `${nameOf(one)}, ${kind}: ${violation}`));
      }
      const total = Object.values(counts).map(({ statuses: all }) => JSON.stringify(all));
      log(`${nameOf(one)}: ${total.join(" ")} ${JSON.stringify(watch.aboveRest)}`);
    });
    beside.push({ ...span, route: nameOf(one) });
  }
  found.push(...(await watch.lost(world)));
  for (const [name, mib] of Object.entries(watch.aboveRest))
    if (mib > memoryMaxMib) found.push(`${name} took ${Math.round(mib)} MiB more than at rest`);
  const slow = slowdowns(other.samples, { alone, beside, fastMs: options.fastMs });
  found.push(...failures(other.samples, beside));
  return {
    violations: [...found, ...slow.violations],
    summary: [
      `${routes.length} routes`,
      JSON.stringify(statuses),
      slow.summary,
      JSON.stringify(watch.aboveRest),
    ].join("; "),
  };
}

type Span = { readonly fromMs: number; readonly toMs: number };

type Spans = {
  readonly alone: readonly Span[];
  readonly beside: readonly (Span & { readonly route: string })[];
};

const isIn = ({ fromMs, toMs }: Span, atMs: number): boolean => atMs >= fromMs && atMs < toMs;

export async function spanOf(run: () => Promise<unknown>): Promise<Span> {
  const nowMs = (): number => performance.timeOrigin + performance.now();
  const fromMs = nowMs();
  await run();
  return { fromMs, toMs: nowMs() };
}

/** A sentence about the calls that failed, if any. One that is asked to wait counts as endless. */
function failures(samples: readonly BesideSample[], beside: Spans["beside"]): readonly string[] {
  const failed = samples.filter(({ status }) => status !== 200 && status !== 503);
  const [first] = failed;
  if (first === undefined) return [];
  const during = beside.find((span) => isIn(span, first.atMs))?.route ?? "no route";
  return [
    `${failed.length} calls of the other caller failed, first ${first.call} with ${first.status} beside ${during}`,
  ];
}

/** Compares the times of the other caller's calls beside each route, and in all, with those alone. */
export function slowdowns(
  samples: readonly BesideSample[],
  { alone, beside, fastMs }: Spans & { readonly fastMs: number },
): HeavyResult {
  const violations: string[] = [];
  const summary: string[] = [];
  for (const [call, all] of Map.groupBy(samples, (sample) => sample.call)) {
    const p95 = (spans: readonly Span[]): number => {
      const times = all.filter(({ atMs }) => spans.some((span) => isIn(span, atMs)));
      return percentile(
        times.map(({ tookMs, status }) => (status === 200 ? tookMs : Infinity)),
        0.95,
      );
    };
    const [before, during] = [p95(alone), p95(beside)];
    summary.push(`${call} p95 ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms beside`);
    const most = slowdownMax * Math.max(before, fastMs);
    if (during > most) violations.push(`${call}: ${summary.at(-1)}`);
    const worst = beside
      .map((span) => ({ route: span.route, ms: p95([span]) }))
      .filter(({ ms }) => ms > most);
    for (const { route, ms } of worst)
      summary.push(`${call} p95 ${ms.toFixed(0)} ms beside ${route}`);
  }
  return { violations, summary: summary.join(", ") };
}
