import { expect, test } from "vitest";
import { protocolProblem, runKeyOf, runOfKey, spokenProtocol } from "./agent-protocol.ts";

const services = { protocol: 5, protocolOldest: 3 };

test.each([
  [{ protocol: 2, protocolOldest: 1 }, /too old: it speaks version 2 .* need 3; update the agent/],
  [
    { protocol: 8, protocolOldest: 6 },
    /too new: it needs version 6 .* speak 5; update the services/,
  ],
])(
  "the error for an agent of protocol %j and services without a common version names the older side",
  (agent, said) => {
    expect(protocolProblem(agent, services)).toMatch(said);
  },
);

test.each([
  { protocol: 3, protocolOldest: 0 },
  { protocol: 9, protocolOldest: 5 },
])("an agent of protocol %j shares a version with the services", (agent) => {
  expect(protocolProblem(agent, services)).toBeNull();
});

test("an agent of this version shares a version with the services", () => {
  expect(protocolProblem(spokenProtocol)).toBeNull();
});

test("the key of a run names its allocation and its request, and an allocation's id alone no request", () => {
  const run = { allocation: "1.1#1", requestId: "r1" };
  expect(runOfKey(runKeyOf(run))).toEqual(run);
  expect(runOfKey("1.1#1")).toEqual({ allocation: "1.1#1", requestId: "" });
});
