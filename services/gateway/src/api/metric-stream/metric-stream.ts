/**
 * Streams the points of an experiment as they are stored. The stream is read from the tables of the metrics service,
 * after the position of the last message. Announcements on the bus only shorten the wait for the next query.
 */
import { allMetricSubjects } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type StreamedMetric, StreamedMetricSchema } from "@trainyard/contracts/api";
import type { StreamedPoint } from "@trainyard/contracts/commands";
import { parseTrialId } from "@trainyard/kernel";
import { asGateway, type Backend } from "../../backend.ts";
import { countedAs } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { Place, SeriesTopic } from "../../live/core/series.ts";
import { encoded, follow } from "../../live/follow.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { followedUntilEnd } from "../followed.ts";
import { shownPoint } from "../metrics/trial-metrics.ts";

/** The interval at which a follower without points gets its position, so that it stays among the kept ones. */
const positionToldMs = 60_000;

type Metric = Plain<StreamedMetric>;

const codec = codecOf<Metric>(StreamedMetricSchema);

export function metricStreamHandlers(backend: Backend, moved: PositionSignal) {
  const { bus, clock } = backend.parts;
  const hub = followedUntilEnd<Metric>(backend, moved, {
    async look(topic, after) {
      const page = await streamedPoints(backend, topic, after);
      const items = page.items.map((item) =>
        encoded(codec, shownItem(item), String(item.position)),
      );
      return { items, next: { position: String(page.next), epoch: "" }, more: page.more };
    },
    tail: ({ experiment, trial }, wake) =>
      bus.tailLive(allMetricSubjects(experiment, trial || undefined), wake),
  });
  async function* followed(
    { after, ...of }: Pick<SeriesTopic, "experiment" | "trial" | "group"> & { after: string },
    { caller, lastEventId, signal }: RequestContext,
  ): AsyncGenerator<StreamItem<Metric>> {
    const { experiment, trial, group } = of;
    const key = JSON.stringify([experiment, trial, group]);
    const topic = { experiment, trial, group, key, name: "", kind: "points", names: [] } as const;
    const from = placeOf(lastEventId ?? after);
    const asked = { caller: countedAs(caller), topic, from };
    // The position is sent at once: a follower that disconnects before the first point then knows where to continue.
    let toldAtMs = from === null ? Number.NEGATIVE_INFINITY : clock.monotonicMs();
    for await (const { message, text, mark } of follow(hub, asked, signal)) {
      const id = mark.place.position;
      if (message !== undefined) yield { id, message, text };
      else if (clock.monotonicMs() - toldAtMs < positionToldMs) continue;
      else yield { id, message: { position: id } };
      toldAtMs = clock.monotonicMs();
    }
  }
  return {
    streams: {
      followMetrics: async function* (asked, context) {
        await backend.get("experiment", asked.experiment);
        yield* followed({ ...asked, trial: "" }, context);
      },
      followTrialMetrics: async function* (asked, context) {
        await backend.get("trial", asked.trial);
        const experiment = parseTrialId(asked.trial)?.experiment ?? "";
        yield* followed({ ...asked, experiment }, context);
      },
    },
  } satisfies SomeHandlers;
}

/**
 * Returns the points after a place. Without a place it returns no points, and the latest position as `next`. A limit of
 * 0 leaves the number to the service.
 */
export function streamedPoints(
  backend: Backend,
  { experiment, trial, group }: SeriesTopic,
  place: Place | null,
  limit = 0,
) {
  const after = place === null ? {} : { after: Number(place.position) };
  const query = { experiment, trial, group, limit, ...after };
  return backend.command("metrics", "QueryStreamedPoints", query, asGateway());
}

function placeOf(text: string): Place | null {
  if (text === "") return null;
  if (/^\d{1,15}$/.test(text)) return { position: String(Number(text)), epoch: "" };
  throw new Problem(400, "invalid_request", "after is a position of the stream of points");
}

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
