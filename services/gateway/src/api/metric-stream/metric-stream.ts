/**
 * Streams the points of an experiment as they are stored. The stream is read from the tables of the metrics service,
 * after the position of the last message. Announcements on the bus only shorten the wait for the next query.
 */
import { allMetricSubjects } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import type { StreamedMetric } from "@trainyard/contracts/api";
import type { StreamedPoint, StreamedPointPage } from "@trainyard/contracts/commands";
import { parseTrialId, pause } from "@trainyard/kernel";
import type { Asker, Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import { Coalescer } from "../../live/coalescer.ts";
import { liveLimits } from "../../live/limits.ts";
import { hasEnded } from "../logs/trial-logs.ts";
import { shownPoint } from "../metrics/trial-metrics.ts";

/** The interval at which a follower queries points without announcements. */
const pointPollMs = 1_000;
/** The interval at which a follower without points gets its position, so that it stays among the kept ones. */
const positionToldMs = 60_000;

export function metricStreamHandlers(backend: Backend) {
  const reader = new StreamReader(backend);
  return {
    streams: {
      followMetrics: async function* ({ experiment, ...asked }, context) {
        await backend.get("experiment", experiment);
        const over = async () => hasEnded(await backend.get("experiment", experiment));
        yield* follow(reader, { ...asked, experiment, trial: "" }, over, context);
      },
      followTrialMetrics: async function* ({ trial, ...asked }, context) {
        await backend.get("trial", trial);
        const experiment = parseTrialId(trial)?.experiment ?? "";
        const over = async () => hasEnded(await backend.get("trial", trial));
        yield* follow(reader, { ...asked, experiment, trial }, over, context);
      },
    },
  } satisfies SomeHandlers;
}

type Followed = {
  readonly experiment: string;
  /** The trial to follow; empty for all. */
  readonly trial: string;
  readonly group: string;
  readonly after: string;
};

/** A query for at most `limit` items; 0 leaves the number to the service. */
type Looked = Omit<Followed, "after"> & { readonly limit?: number };

type Page = Plain<StreamedPointPage>;

export class StreamReader {
  readonly backend: Backend;
  readonly #looks = new Coalescer<Page>();

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /**
   * Returns the points after a position. Without a position it returns no points, and the latest position as `next`.
   */
  look(
    { experiment, trial, group, limit = 0 }: Looked,
    after: number | undefined,
    context: Asker,
  ): Promise<Page> {
    const query = {
      ...{ experiment, trial, group, limit },
      ...(after === undefined ? {} : { after }),
    };
    return this.#looks.ask(JSON.stringify(query), () =>
      this.backend.command("metrics", "QueryStreamedPoints", query, context),
    );
  }
}

/** Follows a stream until its experiment or trial is over, and then reads it one last time. */
async function* follow(
  reader: StreamReader,
  { after: from, ...filter }: Followed,
  over: () => Promise<boolean>,
  context: RequestContext,
): AsyncGenerator<StreamItem<Plain<StreamedMetric>>> {
  const { bus, clock } = reader.backend.parts;
  const { experiment, trial } = filter;
  const { signal } = context;
  const { pointLookMs } = liveLimits;
  const start = positionOf(context.lastEventId ?? from);
  let announced = new AbortController();
  const wake = (): void => announced.abort();
  signal.addEventListener("abort", wake, { once: true });
  await using _tail = await bus.tailLive(allMetricSubjects(experiment, trial || undefined), wake);
  const look = (position?: number) => reader.look(filter, position, context);
  let after = start ?? (await look()).next;
  // The position is sent at once: a follower that disconnects before the first point then knows where to continue.
  if (start === undefined) yield positionItem(after);
  let toldAtMs = clock.monotonicMs();
  for (let silence = true; ; ) {
    announced = new AbortController();
    // The state is read only when no points arrive: a trial that reports has not ended.
    const last = silence && (await over());
    for (let more = true; more && !signal.aborted; ) {
      const page = await look(after);
      for (const item of page.items) yield { id: String(item.position), message: shownItem(item) };
      const isQuiet = page.items.length === 0 && page.next !== after;
      ({ next: after, more } = page);
      if (page.items.length > 0) toldAtMs = clock.monotonicMs();
      if (!isQuiet || clock.monotonicMs() - toldAtMs < positionToldMs) continue;
      yield positionItem(after);
      toldAtMs = clock.monotonicMs();
    }
    if (last || signal.aborted) return;
    // All followers query at the same times, so that followers at equal positions share a query.
    await pause(clock, pointLookMs - (clock.monotonicMs() % pointLookMs), signal);
    await pause(clock, pointPollMs, announced.signal);
    silence = !announced.signal.aborted;
  }
}

function positionOf(text: string): number | undefined {
  if (text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Problem(400, "invalid_request", "after is a position of the stream of points");
}

const positionItem = (position: number): StreamItem<Plain<StreamedMetric>> => ({
  id: String(position),
  message: { position: String(position) },
});

export function shownItem({
  position,
  trial,
  point,
  superseded,
}: Plain<StreamedPoint>): Plain<StreamedMetric> {
  return {
    position: String(position),
    ...(point === undefined ? {} : { point: shownPoint(trial, point) }),
    ...(superseded === undefined ? {} : { superseded: { trial, ...superseded } }),
  };
}
