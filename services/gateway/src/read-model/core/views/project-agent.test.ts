import type { AnyEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { agentHolder, agentStart } from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

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
  expect(agentAfter(joined, recorded, removed)).not.toHaveProperty("undelivered");
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
