import { isDeepStrictEqual } from "node:util";
import type { EventLog } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { type Check, runtimeLimits, shownBeside, type Verdict } from "@trainyard/runtime";
import { Cluster } from "../core/cluster/cluster.ts";
import { readSnapshot, snapshotSchema, writeSnapshot } from "../core/cluster/snapshot.ts";
import { isOfFold, recordedEventOf, snapshotStream } from "./follower.ts";

type Saved = {
  readonly pools: readonly (readonly [string, unknown])[];
  readonly jobs: readonly { readonly pool: string; readonly job: string }[];
  readonly agents: readonly { readonly id: string }[];
  readonly allocations: readonly { readonly id: string }[];
  readonly reservations: readonly (readonly [string, unknown])[];
  readonly recentFailures: unknown;
};

/** Compares the saved fold from which the next term would start with the log folded from 0 up to its position. */
export function savedClusterCheck(log: EventLog): Check {
  return { name: "scheduler.saved-cluster", run: (signal) => verify(log, signal) };
}

async function verify(log: EventLog, signal: AbortSignal): Promise<Verdict> {
  const saved = await log.loadSnapshot(snapshotStream, snapshotSchema);
  if (saved === null) return { position: await log.head(), finding: "" };
  const live = readSnapshot(saved.body);
  const rebuilt = new Cluster();
  while (rebuilt.position < live.position) {
    if (signal.aborted) {
      throw new Fault("unverifiable", "the client no longer waits for it", { retry: "later" });
    }
    const limit = Math.min(runtimeLimits.pageEvents, live.position - rebuilt.position);
    const page = await log.readAll(rebuilt.position, limit);
    if (page.length === 0) {
      const finding = `it was saved at position ${live.position}, and the log ends at ${rebuilt.position}`;
      return { position: rebuilt.position, finding };
    }
    for (const stored of page) {
      if (isOfFold(stored)) rebuilt.apply(recordedEventOf(stored));
      else rebuilt.passed(stored);
    }
  }
  return { position: live.position, finding: difference(live, rebuilt) };
}

function difference(live: Cluster, rebuilt: Cluster): string {
  const [is, becomes] = [rowsOf(live), rowsOf(rebuilt)];
  const names = [...new Set([...is.keys(), ...becomes.keys()])].toSorted();
  const name = names.find((one) => !isDeepStrictEqual(is.get(one), becomes.get(one)));
  if (name === undefined) return "";
  const [one, other] = shownBeside(
    JSON.stringify(is.get(name)) ?? "missing",
    JSON.stringify(becomes.get(name)) ?? "missing",
  );
  return `the first that differs is ${name}: it is ${one}, but a rebuild has ${other}`;
}

/** The saved parts by name, since their order has no meaning. */
function rowsOf(cluster: Cluster): ReadonlyMap<string, unknown> {
  const saved = JSON.parse(writeSnapshot(cluster)) as Saved;
  const { pools, jobs, agents, allocations, reservations, recentFailures } = saved;
  return new Map<string, unknown>([
    ...pools.map(([pool, configured]) => [`pool ${pool}`, configured] as const),
    ...jobs.map((saved) => [`job ${saved.job} in pool ${saved.pool}`, saved] as const),
    ...agents.map((agent) => [`agent ${agent.id}`, agent] as const),
    ...allocations.map((allocation) => [`allocation ${allocation.id}`, allocation] as const),
    ...reservations.map(([pool, kept]) => [`reservation in pool ${pool}`, kept] as const),
    ["recent failures", recentFailures] as const,
  ]);
}
