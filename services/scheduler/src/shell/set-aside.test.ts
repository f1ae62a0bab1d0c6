/** Tests of errors of the scheduler itself: what throws is set aside with its reason, and all others continue. */
import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause, StopMode } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { emptyMeta } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { Cluster } from "../core/cluster/cluster.ts";
import { AwayRuns } from "../core/reconcile/away-runs.ts";
import { Deadlines } from "../core/reconcile/deadlines.ts";
import { explanations } from "../core/reconcile/explanations.ts";
import { Guard } from "../core/reconcile/guard.ts";
import { placementDecisions } from "../core/reconcile/passes.ts";
import { limits } from "../limits.ts";
import { agentStart } from "../testing/examples.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };

function clusterOf(...events: readonly (readonly [id: string, event: AnyEvent])[]): Cluster {
  const cluster = new Cluster();
  for (const [index, [id, event]] of events.entries()) {
    cluster.apply({ position: index + 1, timeMs: 0, eventId: "e", origin, id, event });
  }
  return cluster;
}

/** A run of the experiment with the number of its pool. */
function queued(pool: string, job: number, slots: number): readonly [string, AnyEvent] {
  const resources = { pool, slots, priority: 42, weight: 0, singleAgent: false };
  const of = { task: `${job}.1`, run: 1, job: `${job}`, preemptible: true, delayMs: 0 };
  const data = { ...of, resources, workspace: "", owner: "" };
  return [`${job}.1#1`, { type: "AllocationQueued", data }];
}

test("a pool whose placement throws is tried again after a while, and other pools are placed", () => {
  const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
  const joined = { labels: {}, version: "1", address: "h", slots, ...agentStart };
  const cluster = clusterOf(
    ...["bad", "default"].flatMap((pool, index): readonly (readonly [string, AnyEvent])[] => [
      [pool, { type: "PoolConfigured", data: { policy: "priority" } }],
      [`a${index}`, { type: "AgentJoined", data: { ...joined, pool } }],
      queued(pool, index, 1),
    ]),
  );
  let isBroken = true;
  const pool = cluster.pool.bind(cluster);
  cluster.pool = (name) => {
    if (isBroken && name === "bad") throw new Error("a bug");
    return pool(name);
  };
  let nowMs = 0;
  const thrown: string[] = [];
  const guard = new Guard(
    () => nowMs,
    (what, of) => thrown.push(`${what} of ${of}`),
  );
  const deadlines = new Deadlines();
  const passing = { cluster, deadlines, guard, tokenKey: "k" };
  const placed = () => placementDecisions({ ...passing, nowMs }).map(({ id }) => id);
  expect(placed()).toEqual(["1.1#1"]);
  expect(guard.asideIn("bad")).toBe("placement of bad: a bug");
  cluster.touchedPools.add("bad");
  isBroken = false;
  expect(placed()).toEqual([]);
  nowMs = deadlines.next() ?? 0;
  expect([nowMs, placed(), thrown]).toEqual([limits.setAsideMs, ["0.1#1"], ["placement of bad"]]);
  expect(guard.asideIn("bad")).toBe("");
});

test("looking for the place of a run whose agent is lost ends no term when it throws, and changes nothing", () => {
  const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
  const joined = { pool: "default", labels: {}, version: "1", address: "h", slots, ...agentStart };
  const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "h" }];
  const granted = { placements, masterAddress: "h", masterPort: 1, tokenKey: "k", folded: 0 };
  const cluster = clusterOf(
    ["a1", { type: "AgentJoined", data: joined }],
    ["a2", { type: "AgentJoined", data: joined }],
    queued("default", 1, 1),
    ["1.1#1", { type: "AllocationGranted", data: granted }],
    ["a1", { type: "AgentLost", data: { reason: "dead" } }],
  );
  const { agents } = cluster.pool("default");
  const hold = agents.hold.bind(agents);
  agents.hold = (agent, holder, held) => {
    if (holder.startsWith("next ")) throw new Error("a bug");
    hold(agent, holder, held);
  };
  const guard = new Guard(() => 0);
  const away = new AwayRuns();
  away.look({ cluster, deadlines: new Deadlines(), guard, nowMs: 0 });
  expect(guard.asideIn("default")).toBe("placement of default: a bug");
  expect([away.isEnding("1.1#1"), agents.freeSlots]).toEqual([false, 1]);
  expect(agents.sharesOf("1.1#1")).toEqual([{ agent: "a1", slots: ["0"] }]);
});

test("a launch that throws waits with its reason until somebody kills it, and other runs of its agent start in the same term", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await world.agent("a1", 4);
  await world.trial("1.1");
  // No launch can read the stream of this trial.
  const alien = { id: crypto.randomUUID(), type: "dev.trainyard.trial.Sang.v1", body: "{}" };
  const writes = [{ stream: "trial-1.1", expectedVersion: 1, events: [alien] }];
  await world.experiments.append({
    commitId: crypto.randomUUID(),
    writes,
    guards: [],
    meta: emptyMeta,
  });
  await world.run("1.1#1");
  await world.run("2.1#1");
  await world.advance(5_000);
  const newest = ["1.1#1", "2.1#1"].map((run) => world.names(`allocation-${run}`).at(-1));
  expect(newest).toEqual(["AllocationGranted", "AllocationStarted"]);
  const reply = await send(world, "GetPools", {});
  expect(isRejection(reply) ? reply : reply.pools[0]?.setAside).toContain("launch of 1.1#1: ");
  expect(new Set(agent.heard.map(({ epoch }) => epoch)).size).toBe(1);
  await world.advance(2 * limits.launchSilenceMs);
  expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationGranted");
  await world.requestStop("1.1#1", StopMode.KILL);
  await world.advance(2_000);
  expect(world.last("allocation-1.1#1", "AllocationEnded")).toMatchObject({
    cause: AllocationEndCause.KILLED,
  });
  expect(world.names("agent-a1")).toEqual(["AgentJoined"]);
});

test("a pool whose explanation throws has its turn again after a while, and others are explained", () => {
  const cluster = clusterOf(queued("bad", 0, 9), queued("default", 1, 9));
  for (const pool of ["bad", "default"]) cluster.unexplained.add(pool);
  const bad = cluster.pool("bad");
  cluster.pools.set("bad", null as never);
  let nowMs = 0;
  const thrown: string[] = [];
  const guard = new Guard(
    () => nowMs,
    (what, of) => thrown.push(`${what} of ${of}`),
  );
  const explained = () => explanations(cluster, guard, 1e6).map(({ id }) => id);
  expect([explained(), explained(), thrown]).toEqual([
    ["1.1#1"],
    ["1.1#1"],
    ["explanation of bad"],
  ]);
  cluster.pools.set("bad", bad);
  expect(explained()).toEqual(["1.1#1"]);
  nowMs = limits.setAsideMs;
  expect([explained(), thrown]).toEqual([["0.1#1", "1.1#1"], ["explanation of bad"]]);
});
