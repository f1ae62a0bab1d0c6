import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { agentStart } from "../../testing/examples.ts";
import { agentDecider } from "./decide.ts";
import type { AgentEvent } from "./state.ts";
import { checkpointsText } from "./undelivered.ts";

const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
const offer = { pool: "default", slots, labels: { a: "1", b: "2" }, version: "1", address: "h" };
const joined = { ...offer, ...agentStart };
const holder = { folder: "f1", place: "p1", startedMs: 1_000 };
const join: AgentEvent = { type: "AgentJoined", data: joined };
const lost: AgentEvent = { type: "AgentLost", data: { reason: "silent" } };
const returned: AgentEvent = {
  type: "AgentReturned",
  data: { occupations: [], slots, ...holder },
};

const comeBack = { kind: "return", occupations: [], slots, holder } as const;

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
    given(agentDecider, join, lost).when(comeBack).then(returned);
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
    given(agentDecider).when(comeBack).thenRejected("agent_unknown");
    given(agentDecider)
      .when({ kind: "clear", allocation: "1.1#1", slots: [] })
      .thenRejected("agent_unknown");
  });

  test.each(["constructor", "toString", "__proto__"])(
    "has no slot %s that every object inherits, and can have one",
    (slot) => {
      const disable = { kind: "disable", slot, reason: "", drain: true, deadlineMs: 0 } as const;
      given(agentDecider, join).when(disable).thenRejected("slot_unknown");
      given(agentDecider, join).when({ kind: "enable", slot }).thenRejected("slot_unknown");
      const own = { ...joined, slots: [{ id: slot, device: "cpu", uuid: "", memoryBytes: 0 }] };
      const event: AgentEvent = { type: "SlotDisabled", data: { slot, reason: "", drain: true } };
      given(agentDecider, { type: "AgentJoined", data: own }).when(disable).then(event);
    },
  );

  test("is disabled, drained and enabled, and each says so once", () => {
    const disabled: AgentEvent = { type: "AgentDisabled", data: { reason: "fan" } };
    const draining: AgentEvent = { type: "AgentDrainRequested", data: { reason: "fan" } };
    const drained: AgentEvent = { type: "AgentDrained", data: {} };
    const enabled: AgentEvent = { type: "AgentEnabled", data: {} };
    given(agentDecider, join).when(disable()).then(disabled);
    given(agentDecider, join, disabled).when(disable()).thenNothing();
    given(agentDecider, join, disabled)
      .when(disable({ drain: true }))
      .then(draining);
    given(agentDecider, join, draining).when(disable()).thenNothing();
    given(agentDecider, join, draining).when({ kind: "note_drained" }).then(drained);
    given(agentDecider, join, draining, drained).when({ kind: "note_drained" }).thenNothing();
    given(agentDecider, join, draining, drained)
      .when(disable({ drain: true }))
      .thenNothing();
    for (const history of [[disabled], [draining], [draining, drained]]) {
      given(agentDecider, join, ...history)
        .when({ kind: "enable", slot: "" })
        .then(enabled);
    }
    given(agentDecider, join).when({ kind: "enable", slot: "" }).thenNothing();
    given(agentDecider, join, draining, enabled).when(disable()).then(disabled);
  });

  test("drains again only with a shorter deadline", () => {
    const draining = (deadlineMs?: number): AgentEvent => ({
      type: "AgentDrainRequested",
      data: { reason: "fan", ...(deadlineMs === undefined ? {} : { deadlineMs }) },
    });
    const drain = (deadlineMs: number) => disable({ drain: true, deadlineMs });
    given(agentDecider, join, draining()).when(drain(0)).thenNothing();
    given(agentDecider, join, draining()).when(drain(500)).then(draining(500));
    given(agentDecider, join, draining(500)).when(drain(500)).thenNothing();
    given(agentDecider, join, draining(500)).when(drain(900)).thenNothing();
    given(agentDecider, join, draining(500)).when(drain(0)).thenNothing();
    given(agentDecider, join, draining(500)).when(drain(100)).then(draining(100));
  });

  test("has slots that are disabled, drained and enabled by themselves", () => {
    const off = (rest: object = {}): AgentEvent => ({
      type: "SlotDisabled",
      data: { slot: "0", reason: "fan", drain: false, ...rest },
    });
    const on: AgentEvent = { type: "SlotEnabled", data: { slot: "0" } };
    const slot = "0";
    given(agentDecider, join).when(disable({ slot })).then(off());
    given(agentDecider, join, off()).when(disable({ slot })).thenNothing();
    given(agentDecider, join, off())
      .when(disable({ slot, drain: true, deadlineMs: 7 }))
      .then(off({ drain: true, deadlineMs: 7 }));
    given(agentDecider, join, off()).when({ kind: "enable", slot }).then(on);
    given(agentDecider, join).when({ kind: "enable", slot }).thenNothing();
    given(agentDecider, join, off()).when({ kind: "enable", slot: "" }).thenNothing();
  });

  test("refuses a slot that it has never had, and enables one that has left", () => {
    const data = { slot: "0", reason: "", drain: false };
    const off: AgentEvent = { type: "SlotDisabled", data };
    const without: AgentEvent = { type: "AgentJoined", data: { ...joined, slots: [] } };
    given(agentDecider, join)
      .when(disable({ slot: "9" }))
      .thenRejected("slot_unknown");
    given(agentDecider, join).when({ kind: "enable", slot: "9" }).thenRejected("slot_unknown");
    given(agentDecider, join, off, without)
      .when({ kind: "enable", slot: "0" })
      .then({ type: "SlotEnabled", data: { slot: "0" } });
  });

  test("is removed when it is lost or has no runs, and joins again", () => {
    const remove = (...runs: string[]) =>
      ({ kind: "remove", reason: "sold", runs, force: false }) as const;
    const removed: AgentEvent = { type: "AgentRemoved", data: { reason: "sold" } };
    given(agentDecider, join).when(remove()).then(removed);
    given(agentDecider, join).when(remove("1.1#1")).thenRejected("agent_has_runs");
    given(agentDecider, join, lost).when(remove("1.1#1")).then(removed);
    given(agentDecider, join, removed).when(remove()).thenNothing();
    given(agentDecider, join, removed).when({ kind: "join", joined }).then(join);
    given(agentDecider, join, removed).when(disable()).thenRejected("agent_unknown");
    given(agentDecider).when(remove()).thenRejected("agent_unknown");
    given(agentDecider).when(disable()).thenRejected("agent_unknown");
  });
});

describe("the checkpoints that ended runs have left on an agent", () => {
  const left = { checkpoints: 3, bytes: 12e9, runs: ["1.1#1"] };
  const recorded: AgentEvent = { type: "CheckpointsLeft", data: left };
  const none = { checkpoints: 0, bytes: 0, runs: [] };

  test("are recorded when the runs change, not at each delivered checkpoint", () => {
    const note = (more: object) =>
      ({ kind: "note_checkpoints", left: { ...left, ...more } }) as const;
    given(agentDecider, join).when(note({})).then(recorded);
    given(agentDecider, join).when(note(none)).thenNothing();
    given(agentDecider, join, recorded)
      .when(note({ checkpoints: 2, bytes: 8e9 }))
      .thenNothing();
    given(agentDecider, join, recorded)
      .when(note({ runs: ["1.1#1", "1.2#1"] }))
      .then({ type: "CheckpointsLeft", data: { ...left, runs: ["1.1#1", "1.2#1"] } });
    given(agentDecider, join, recorded)
      .when(note(none))
      .then({ type: "CheckpointsLeft", data: none });
  });

  test("keep it from being removed without force, also while it is lost, and the refusal names them", () => {
    const remove = (force: boolean) => ({ kind: "remove", reason: "", runs: [], force }) as const;
    const removed: AgentEvent = { type: "AgentRemoved", data: { reason: "" } };
    for (const before of [[join], [join, lost]]) {
      given(agentDecider, ...before, recorded)
        .when(remove(false))
        .thenRejected("agent_has_checkpoints");
      given(agentDecider, ...before, recorded)
        .when(remove(true))
        .then(removed);
    }
    given(agentDecider, join, recorded, { type: "CheckpointsLeft", data: none })
      .when(remove(false))
      .then(removed);
    expect(checkpointsText(left)).toContain("has 3 checkpoints, 12 GB (1.1#1) not stored yet");
  });
});

function disable(rest: { slot?: string; drain?: boolean; deadlineMs?: number } = {}) {
  return {
    kind: "disable",
    slot: "",
    reason: "fan",
    drain: false,
    deadlineMs: 0,
    ...rest,
  } as const;
}
