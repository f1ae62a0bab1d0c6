import type { AnyEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import {
  agentHolder,
  agentStart,
  requested,
  trialCreated,
} from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";
import { touchedBy, touchedThrough } from "./touched.ts";

const offered = { pool: "default", slots: [], labels: {}, version: "1", address: "host-1" };
const offer = { ...offered, ...agentStart };
const refused = { folder: "f2", place: "p2", address: "host-2", reason: "it is held" };

function agentAfter(...events: readonly AnyEvent[]) {
  const documents = new DocumentSet();
  for (const event of events)
    project({ stream: "agent-rack", timeMs: 0, position: 1 }, event, documents);
  return documents.get("agent", "rack");
}

test("an agent shows the checkpoints that ended runs have left on it, until they are stored or it is removed", () => {
  const joined: AnyEvent = { type: "AgentJoined", data: offer };
  const left = { checkpoints: 3, bytes: 12e9, runs: ["1.1#1"] };
  const recorded: AnyEvent = { type: "CheckpointsLeft", data: left };
  const stored: AnyEvent = {
    type: "CheckpointsLeft",
    data: { checkpoints: 0, bytes: 0, runs: [] },
  };
  const removed: AnyEvent = { type: "AgentRemoved", data: { reason: "" } };
  expect(agentAfter(joined, recorded)?.undelivered).toEqual(left);
  expect(agentAfter(joined, recorded, joined)?.undelivered).toEqual(left);
  expect(agentAfter(joined, recorded, stored)).not.toHaveProperty("undelivered");
  expect(agentAfter(joined, recorded, removed, joined)).not.toHaveProperty("undelivered");
});

test("an agent shows its latest notices, also after it joins again, until it is removed", () => {
  const joined: AnyEvent = { type: "AgentJoined", data: offer };
  const noticed = (...notices: readonly string[]): AnyEvent => ({
    type: "AgentNoticed",
    data: { notices },
  });
  const removed: AnyEvent = { type: "AgentRemoved", data: { reason: "" } };
  expect(agentAfter(joined)?.notices).toEqual([]);
  const two = agentAfter(joined, noticed("one"), noticed("two", "three"), joined);
  expect(two?.notices).toEqual(["two", "three"]);
  expect(agentAfter(joined, noticed("one"), removed)?.notices).toEqual([]);
});

test("an agent shows the address of another agent that asks for its name, while it does", () => {
  const joined: AnyEvent = { type: "AgentJoined", data: offer };
  const asked: AnyEvent = { type: "AgentNameRefused", data: refused };
  expect(agentAfter(joined)?.nameRefused ?? "").toBe("");
  expect(agentAfter(joined, asked)?.nameRefused).toBe(
    "another agent at host-2 asks for this name and is refused",
  );
  const cleared: AnyEvent = { type: "AgentNameCleared", data: {} };
  const data = { occupations: [], slots: [], ...agentHolder };
  const returned: AnyEvent = { type: "AgentReturned", data };
  expect(agentAfter(joined, asked, cleared)?.nameRefused).toBe("");
  expect(agentAfter(joined, asked, returned)?.nameRefused).toBe("");
});

test("an agent shows that it does not report and is waited for, until it reports or is lost", () => {
  const joined: AnyEvent = { type: "AgentJoined", data: offer };
  const said = { agents: ["other", "rack"], silent: 2, reason: "2 of 3", waitMs: 600 };
  const silent: AnyEvent = { type: "AgentsSilent", data: said };
  const heard: AnyEvent = { type: "AgentsHeard", data: { agents: ["rack"], silent: 1 } };
  const lost: AnyEvent = { type: "AgentLost", data: { reason: "" } };
  expect(agentAfter(joined, silent)?.silence).toEqual({ reason: "2 of 3", untilMs: 600 });
  expect(agentAfter(joined, silent, heard)).not.toHaveProperty("silence");
  expect(agentAfter(joined, silent, lost)).not.toHaveProperty("silence");
  const keys = touchedBy("agent-other", silent);
  expect(keys).toEqual(said.agents.map((id) => ({ kind: "agent", id })));
});

test("an agent that is removed is in no list, unless a user has taken it out of use", () => {
  const joined: AnyEvent = { type: "AgentJoined", data: offer };
  const removed: AnyEvent = { type: "AgentRemoved", data: { reason: "" } };
  const disabled: AnyEvent = { type: "AgentDisabled", data: { reason: "loud fan" } };
  expect(agentAfter(joined, removed)).toBeUndefined();
  expect(agentAfter(joined, disabled, removed)).toMatchObject({ state: "REMOVED" });
  expect(agentAfter(joined, removed, joined)).toMatchObject({ state: "CONNECTED" });
});

test("a run waits for its agent while it is lost", () => {
  const documents = new DocumentSet();
  const slot = { id: "0", device: "cpu", uuid: "", memoryBytes: 0 };
  const tell = (stream: string, event: AnyEvent) =>
    project({ stream, timeMs: 0, position: 1 }, event, documents);
  tell("trial-1.1", trialCreated(1));
  tell("trial-1.1", requested(1, 0));
  tell("agent-rack", { type: "AgentJoined", data: { ...offer, slots: [slot] } });
  const placements = [{ agent: "rack", slots: ["0"], nodeRank: 0, address: "" }];
  const rendezvous = { masterAddress: "", masterPort: 1, tokenKey: "", folded: 1 };
  tell("allocation-1.1#1", { type: "AllocationGranted", data: { placements, ...rendezvous } });
  const waitsFor = () => documents.get("trial", "1.1")?.runs[0]?.waitsFor;
  const lost: AnyEvent = { type: "AgentLost", data: { reason: "" } };
  expect(touchedThrough("agent-rack", lost, documents)).toEqual([{ kind: "trial", id: "1.1" }]);
  tell("agent-rack", lost);
  expect(waitsFor()).toBe("its agent rack, which is lost");
  const occupations = [{ allocation: "1.1#1", slots: ["0"] }];
  const returned = { occupations, slots: [slot], ...agentHolder };
  tell("agent-rack", { type: "AgentReturned", data: returned });
  expect(waitsFor()).toBe("");
});
