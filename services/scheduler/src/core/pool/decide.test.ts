import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { poolDecider, type PoolEvent } from "./decide.ts";

const fair = { policy: "fair_share", settings: { preemption: true, quotas: [] } };
const configured: PoolEvent = { type: "PoolConfigured", data: fair };
const bare: PoolEvent = { type: "PoolConfigured", data: { policy: "priority" } };
const removed: PoolEvent = { type: "PoolRemoved", data: {} };
const configure = (by: "create" | "update" | "join", data: typeof fair | typeof bare.data = fair) =>
  ({ kind: "configure", configured: data, by }) as const;

describe("a pool", () => {
  test("is created once, and again after its removal", () => {
    given(poolDecider).when(configure("create")).then(configured);
    given(poolDecider, configured).when(configure("create")).thenRejected("pool_exists");
    given(poolDecider, configured, removed).when(configure("create")).then(configured);
  });

  test("is updated if it exists and the update changes it", () => {
    given(poolDecider).when(configure("update")).thenRejected("pool_not_found");
    given(poolDecider, bare).when(configure("update")).then(configured);
    given(poolDecider, configured).when(configure("update")).thenNothing();
  });

  test("without settings equals one that names all defaults", () => {
    const settings = { backfill: "reserved", fit: "pack", defaultPriority: 42, quotas: [] };
    given(poolDecider, bare)
      .when(configure("update", { policy: "priority", settings } as typeof bare.data))
      .thenNothing();
  });

  test("that an agent joins is configured unless it was already, with any policy", () => {
    given(poolDecider).when(configure("join", bare.data)).then(bare);
    given(poolDecider, configured).when(configure("join", bare.data)).thenNothing();
  });

  test("is removed when it has no agents and no runs", () => {
    given(poolDecider, configured).when({ kind: "remove", agents: 0, runs: 0 }).then(removed);
    given(poolDecider, configured)
      .when({ kind: "remove", agents: 1, runs: 0 })
      .thenRejected("pool_in_use");
    given(poolDecider, configured)
      .when({ kind: "remove", agents: 0, runs: 2 })
      .thenRejected("pool_in_use");
    given(poolDecider).when({ kind: "remove", agents: 0, runs: 0 }).thenRejected("pool_not_found");
    given(poolDecider, configured, removed)
      .when({ kind: "remove", agents: 0, runs: 0 })
      .thenRejected("pool_not_found");
  });
});
