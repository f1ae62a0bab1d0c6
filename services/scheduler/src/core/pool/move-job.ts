/**
 * Moves an experiment or task ahead of or behind another: to a place between that one's and its neighbour's in the
 * queue.
 */
import type { Plain } from "@trainyard/contracts";
import type { MoveJob } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import { placeOf } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { JobEvent } from "./decide.ts";
import { jobName } from "./job-name.ts";
import { runsOf } from "./pool-info.ts";

export function moveOf(
  cluster: Cluster,
  pool: string,
  { job, anchor, ahead }: Plain<MoveJob>,
): readonly JobEvent[] | Rejection {
  if (job === anchor) return reject("invalid_request", "it cannot be moved relative to itself");
  const waiting = runsOf(cluster, pool)
    .filter(({ grant }) => grant === null)
    .map((allocation) => cluster.demand(allocation));
  const [own] = waiting.filter((demand) => demand.job === job);
  const [other] = waiting.filter((demand) => demand.job === anchor);
  if (own === undefined) return reject("not_waiting", `it has no run that waits in pool ${pool}`);
  if (other === undefined) {
    return reject("not_waiting", `${jobName(anchor)} has no run that waits in pool ${pool}`);
  }
  const { priority } = other;
  const places = [...cluster.pool(pool).jobs]
    .filter(([known]) => known !== job && known !== anchor)
    .flatMap(([, { first, place = first }]) => place ?? []);
  const place = placeBeside(placeOf(other), places, ahead);
  if (place === null) {
    const detail = `there is no place left between ${jobName(anchor)} and its neighbour: move it relative to another one`;
    return reject("no_place_left", detail);
  }
  const moved: JobEvent = { type: "JobMoved", data: { job, place, anchor, ahead } };
  if (own.priority === priority) return [moved];
  return [{ type: "JobUpdated", data: { job, priority } }, moved];
}

/**
 * Half way to the neighbour; behind the last experiment by less than a position, so that later arrivals are behind it.
 * Null if the two numbers have no number between them.
 */
export function placeBeside(
  anchor: number,
  others: readonly number[],
  ahead: boolean,
): number | null {
  const side = others.filter((place) => (ahead ? place < anchor : place > anchor));
  const neighbour = ahead
    ? side.reduce((a, b) => Math.max(a, b), anchor - 1)
    : side.reduce((a, b) => Math.min(a, b), anchor + 1);
  const place = (anchor + neighbour) / 2;
  return place !== anchor && place !== neighbour ? place : null;
}
