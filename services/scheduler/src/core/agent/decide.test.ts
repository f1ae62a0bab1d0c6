import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { agentDecider } from "./decide.ts";
import type { AgentEvent } from "./state.ts";

const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
const joined = { pool: "default", slots, labels: { a: "1", b: "2" }, version: "1", address: "h" };
const join: AgentEvent = { type: "AgentJoined", data: joined };
const lost: AgentEvent = { type: "AgentLost", data: { reason: "silent" } };
const returned: AgentEvent = { type: "AgentReturned", data: { occupations: [], slots } };

describe("an agent", () => {
  test("joins once with the same offer, whatever the order of its labels", () => {
    given(agentDecider).when({ kind: "join", joined }).then(join);
    const again = { ...joined, labels: { b: "2", a: "1" } };
    given(agentDecider, join).when({ kind: "join", joined: again }).thenNothing();
  });

  test("joins again when it offers something else", () => {
    const other = { ...joined, slots: [] };
    given(agentDecider, join)
      .when({ kind: "join", joined: other })
      .then({ type: "AgentJoined", data: other });
  });

  test("is lost once, and returns", () => {
    given(agentDecider, join).when({ kind: "lose", reason: "silent" }).then(lost);
    given(agentDecider, join, lost).when({ kind: "lose", reason: "silent" }).thenNothing();
    given(agentDecider, join, lost).when({ kind: "return", occupations: [], slots }).then(returned);
    given(agentDecider, join, lost, returned).when({ kind: "lose", reason: "silent" }).then(lost);
  });

  test("raises the epoch beyond what it knows, again where the lease's epochs have fallen back", () => {
    const raise = { kind: "raise_epoch", from: 3, to: 901, leaseEpoch: 3 } as const;
    const raised: AgentEvent = {
      type: "SchedulerEpochRaised",
      data: { from: 3, to: 901, leaseEpoch: 3 },
    };
    given(agentDecider, join).when(raise).then(raised);
    given(agentDecider, join, raised).when(raise).thenNothing();
    const again = { from: 899, to: 901, leaseEpoch: 1 };
    given(agentDecider, join, raised)
      .when({ kind: "raise_epoch", ...again })
      .then({ type: "SchedulerEpochRaised", data: again });
  });

  test("says once that another asks for its name, and once that none does any more", () => {
    const asks = { folder: "f2", place: "p2", address: "h2", reason: "it is held" };
    const refused: AgentEvent = { type: "AgentNameRefused", data: asks };
    const cleared: AgentEvent = { type: "AgentNameCleared", data: {} };
    given(agentDecider, join)
      .when({ kind: "refuse", ...asks })
      .then(refused);
    given(agentDecider, join, refused)
      .when({ kind: "refuse", ...asks })
      .thenNothing();
    given(agentDecider, join, refused).when({ kind: "refuse_nobody" }).then(cleared);
    given(agentDecider, join).when({ kind: "refuse_nobody" }).thenNothing();
  });

  test("joins again when another folder or place has its name, and not when it merely starts again", () => {
    const first = { ...joined, folder: "f1", place: "p1", startedMs: 1 };
    const held: AgentEvent = { type: "AgentJoined", data: first };
    given(agentDecider, held)
      .when({ kind: "join", joined: { ...first, startedMs: 9 } })
      .thenNothing();
    const elsewhere = { ...first, place: "p2", startedMs: 9 };
    given(agentDecider, held)
      .when({ kind: "join", joined: elsewhere })
      .then({ type: "AgentJoined", data: elsewhere });
  });

  test("that never joined cannot return or clear", () => {
    given(agentDecider)
      .when({ kind: "return", occupations: [], slots })
      .thenRejected("agent_unknown");
    given(agentDecider)
      .when({ kind: "clear", allocation: "1.1#1", slots: [] })
      .thenRejected("agent_unknown");
  });
});
