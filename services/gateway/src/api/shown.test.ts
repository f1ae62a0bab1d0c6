import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { DocumentSet } from "../read-model/core/views/documents.ts";
import { project } from "../read-model/core/views/project.ts";
import { agentStart, requested, trialCreated } from "../testing/example-events.ts";
import { shownAgent, shownTrial } from "./shown.ts";

const slot = (id: string) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 });

function offer(slots: readonly string[], labels: Readonly<Record<string, string>> = {}): AnyEvent {
  const offered = { pool: "default", slots: slots.map(slot), labels, version: "1", address: "" };
  return { type: "AgentJoined", data: { ...offered, ...agentStart } };
}

/** Returns the agent after the events, which are one second apart. */
function agentAfter(...events: readonly (AnyEvent | readonly [string, AnyEvent])[]) {
  const documents = new DocumentSet();
  events.forEach((given, index) => {
    const [stream, event] = "type" in given ? ["agent-rack", given] : given;
    project({ stream, timeMs: index * 1_000, position: index + 1 }, event, documents);
  });
  const doc = documents.get("agent", "rack");
  if (doc === undefined) throw new Error("no event created the agent");
  return shownAgent(doc);
}

const granted = (run: string, ...slots: readonly string[]): readonly [string, AnyEvent] => {
  const placements = [{ agent: "rack", nodeRank: 0, slots, address: "" }];
  const data = { placements, masterAddress: "", masterPort: 1, tokenKey: "k1", folded: 0 };
  return [`allocation-${run}`, { type: "AllocationGranted", data }];
};
const cleared = (run: string, ...slots: readonly string[]): AnyEvent => ({
  type: "SlotsCleared",
  data: { allocation: run, slots },
});

test("an agent has the labels of its last join", () => {
  const labels = { rack: "r1" };
  expect(agentAfter(offer(["0"]), offer(["0"], labels)).labels).toEqual(labels);
  expect(agentAfter(offer(["0"], labels), offer(["0"])).labels).toEqual({});
});

test("a disabled agent stays disabled until it is enabled", () => {
  const disabled: AnyEvent = { type: "AgentDisabled", data: { reason: "loud fan" } };
  const lost: AnyEvent = { type: "AgentLost", data: { reason: "" } };
  const expected = { state: "DISABLED", reason: "loud fan", sinceMs: 1_000 };
  expect(agentAfter(offer(["0"]), disabled)).toMatchObject({ state: "CONNECTED" });
  expect(agentAfter(offer(["0"]), disabled).disabled).toEqual(expected);
  expect(agentAfter(offer(["0"]), disabled, lost, offer(["0"])).disabled).toEqual(expected);
  const enabled: AnyEvent = { type: "AgentEnabled", data: {} };
  expect(agentAfter(offer(["0"]), disabled, enabled)).not.toHaveProperty("disabled");
});

test("an agent that drains has a deadline until it is drained", () => {
  const requested: AnyEvent = {
    type: "AgentDrainRequested",
    data: { reason: "update", deadlineMs: 60_000 },
  };
  const drained: AnyEvent = { type: "AgentDrained", data: {} };
  const draining = { state: "DRAINING", reason: "update", sinceMs: 1_000 };
  expect(agentAfter(offer(["0"]), requested).disabled).toEqual({
    ...draining,
    deadlineAtMs: 61_000,
  });
  expect(agentAfter(offer(["0"]), requested, drained).disabled).toEqual({
    ...draining,
    state: "DRAINED",
  });
  const endless: AnyEvent = { type: "AgentDrainRequested", data: { reason: "update" } };
  expect(agentAfter(offer(["0"]), endless).disabled).toEqual(draining);
});

test("a second drain does not extend the deadline of the first one", () => {
  const drain = (deadlineMs: number): AnyEvent => ({
    type: "AgentDrainRequested",
    data: { reason: "", deadlineMs },
  });
  const enabled: AnyEvent = { type: "AgentEnabled", data: {} };
  expect(agentAfter(offer(["0"]), drain(2_000), drain(1_500)).disabled?.deadlineAtMs).toBe(3_000);
  expect(agentAfter(offer(["0"]), drain(2_000), drain(500)).disabled?.deadlineAtMs).toBe(2_500);
  const later = agentAfter(offer(["0"]), drain(2_000), enabled, drain(2_000));
  expect(later.disabled?.deadlineAtMs).toBe(5_000);
});

test("a drained slot is shown as draining while a run uses it, and then as drained", () => {
  const drain: AnyEvent = { type: "SlotDisabled", data: { slot: "0", reason: "x", drain: true } };
  const held = agentAfter(offer(["0", "1"]), granted("5.1#1", "0", "1"), drain);
  expect(held.slots).toMatchObject([{ disabled: { state: "DRAINING", reason: "x" } }, {}]);
  expect(held.slots[1]).not.toHaveProperty("disabled");
  const free = agentAfter(
    offer(["0", "1"]),
    granted("5.1#1", "0", "1"),
    drain,
    cleared("5.1#1", "0", "1"),
  );
  expect(free.slots).toMatchObject([{ run: "", disabled: { state: "DRAINED" } }, { run: "" }]);
});

test("a disabled slot that was withdrawn is still disabled when it returns, until it is enabled", () => {
  const disabled: AnyEvent = {
    type: "SlotDisabled",
    data: { slot: "0", reason: "", drain: false },
  };
  const returned = agentAfter(offer(["0", "1"]), disabled, offer(["1"]), offer(["0", "1"]));
  expect(returned.slots[0]?.disabled).toEqual({
    state: "DISABLED",
    reason: "",
    sinceMs: 1_000,
  });
  const enabled: AnyEvent = { type: "SlotEnabled", data: { slot: "0" } };
  const [first] = agentAfter(
    offer(["0", "1"]),
    disabled,
    offer(["1"]),
    enabled,
    offer(["0"]),
  ).slots;
  expect(first).not.toHaveProperty("disabled");
});

test.each([
  ["10.0.0.7", ["http://10.0.0.7:6006", "tcp://10.0.0.7:6379"]],
  ["fd00::7", ["http://[fd00::7]:6006", "tcp://[fd00::7]:6379"]],
])("a run on the host %s shows the addresses of its ports until it ends", (address, addresses) => {
  const documents = new DocumentSet();
  project({ stream: "trial-1.1", timeMs: 1, position: 1 }, trialCreated(1), documents);
  project({ stream: "trial-1.1", timeMs: 2, position: 2 }, requested(1, 0), documents);
  const placements = [{ agent: "rack", nodeRank: 0, slots: ["0"], address }];
  const grant = { placements, masterAddress: "", masterPort: 1, tokenKey: "k1", folded: 0 };
  project(
    { stream: "allocation-1.1#1", timeMs: 3, position: 3 },
    { type: "AllocationGranted", data: grant },
    documents,
  );
  const ports = [{ proxy_port: 6006 }, { proxy_port: 6379, proxy_tcp: true }];
  const proxied = { environment: { proxy_ports: ports } };
  const placementOf = (config: object) => {
    const doc = documents.get("trial", "1.1");
    if (doc === undefined) throw new Error("there is no trial");
    return shownTrial(doc, { state: "ACTIVE" }, config as never).runs[0]?.placements[0];
  };
  expect(placementOf(proxied)).toMatchObject({ agent: "rack", proxy: { addresses } });
  expect(placementOf({})).not.toHaveProperty("proxy");
  const end = { run: 1, why: RunEndWhy.FINISHED, exits: [], message: "", countsAsRestart: false };
  project(
    { stream: "trial-1.1", timeMs: 4, position: 4 },
    { type: "RunEnded", data: end },
    documents,
  );
  expect(placementOf(proxied)).not.toHaveProperty("proxy");
});
