/**
 * Moves an experiment ahead of or behind another: to a place between that one's runs and their neighbour in the queue.
 */
import type { Plain } from "@trainyard/contracts";
import type { MoveJob } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import { type Demand, placeOf } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { JobEvent } from "./decide.ts";
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
    return reject("not_waiting", `experiment ${anchor} has no run that waits in pool ${pool}`);
  }
  const { priority } = other;
  const peers = waiting.filter((demand) => demand.job !== job && demand.priority === priority);
  const place = placeBeside(peers, anchor, ahead);
  if (place === null) {
    const detail = `there is no place left between experiment ${anchor} and its neighbour: move it relative to another one`;
    return reject("no_place_left", detail);
  }
  const moved: JobEvent = { type: "JobMoved", data: { job, place, anchor, ahead } };
  if (own.priority === priority) return [moved];
  return [{ type: "JobUpdated", data: { job, priority } }, moved];
}

/**
 * Half way to the neighbour; behind the last run by less than a position, so that later arrivals are behind it. Null if
 * the two numbers have no number between them.
 */
export function placeBeside(
  peers: readonly Demand[],
  anchor: string,
  ahead: boolean,
): number | null {
  const places = (of: (demand: Demand) => boolean): readonly number[] =>
    peers.filter(of).map(placeOf);
  const own = places(({ job }) => job === anchor);
  const others = places(({ job }) => job !== anchor);
  const [from, to] = ahead ? below(own, others) : above(own, others);
  const place = (from + to) / 2;
  return place > from && place < to ? place : null;
}

function below(own: readonly number[], others: readonly number[]): readonly [number, number] {
  const to = own.reduce((a, b) => Math.min(a, b));
  const before = others.filter((place) => place < to);
  return [before.reduce((a, b) => Math.max(a, b), to - 1), to];
}

function above(own: readonly number[], others: readonly number[]): readonly [number, number] {
  const from = own.reduce((a, b) => Math.max(a, b));
  const after = others.filter((place) => place > from);
  return [from, after.reduce((a, b) => Math.min(a, b), from + 1)];
}
