import { expect, test } from "vitest";
import { protocolProblem, spokenProtocol } from "./agent-protocol.ts";

const services = { protocol: 5, protocolOldest: 3 };

test.each([
  [{ protocol: 2, protocolOldest: 1 }, /too old: it speaks version 2 .* need 3; update the agent/],
  [{}, /too old: it speaks version 0/],
  [
    { protocol: 8, protocolOldest: 6 },
    /too new: it needs version 6 .* speak 5; update the services/,
  ],
])(
  "the error for an agent that speaks %j and services without a common version says which is older",
  (agent, said) => {
    expect(protocolProblem(agent, services)).toMatch(said);
  },
);

test.each([
  { protocol: 3, protocolOldest: 0 },
  { protocol: 9, protocolOldest: 5 },
])("an agent that speaks %j has a version in common with the services", (agent) => {
  expect(protocolProblem(agent, services)).toBeNull();
});

test("agents from before the versions are still understood, and so are this version's by itself", () => {
  expect(protocolProblem({})).toBeNull();
  expect(protocolProblem(spokenProtocol)).toBeNull();
});
