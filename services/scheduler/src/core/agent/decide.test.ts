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

  test("that never joined cannot return or clear", () => {
    given(agentDecider)
      .when({ kind: "return", occupations: [], slots })
      .thenRejected("agent_unknown");
    given(agentDecider)
      .when({ kind: "clear", allocation: "1.1#1", slots: [] })
      .thenRejected("agent_unknown");
  });
});
