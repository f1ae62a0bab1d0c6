import { expect, test } from "vitest";
import {
  keysNamed,
  protocolProblem,
  runKeyOf,
  runOfKey,
  spokenProtocol,
} from "./agent-protocol.ts";

const services = { protocol: 5, protocolOldest: 3 };

test.each([
  [{ protocol: 2, protocolOldest: 1 }, /too old: it speaks version 2 .* need 3; update the agent/],
  [{}, /too old: it speaks version 0/],
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

test("agents older than the version fields are understood, and so are agents of this version", () => {
  expect(protocolProblem({})).toBeNull();
  expect(protocolProblem(spokenProtocol)).toBeNull();
});

const requested = { allocation: "1.1#1", requestId: "r1" };
const held = [requested, { allocation: "1.1#1", requestId: "r2" }, { allocation: "1.2#1" }];
const runs = new Map(held.map((run) => [runKeyOf(run), run]));

test.each([
  [requested, ["1.1#1@r1"]],
  [{ allocation: "1.1#1", requestId: "r3" }, []],
  [{ allocation: "1.1#1", requestId: "" }, ["1.1#1@r1", "1.1#1@r2"]],
  [{ allocation: "1.1#1" }, ["1.1#1@r1", "1.1#1@r2"]],
  [{ allocation: "1.2#1", requestId: "r1" }, ["1.2#1"]],
  [{ allocation: "1.2#1" }, ["1.2#1"]],
])("a message that names %j is about the runs %j of an agent", (named, keys) => {
  expect(keysNamed(runs, named)).toEqual(keys);
});

test.each(held)("the key of %j identifies it", (run) => {
  expect(runOfKey(runKeyOf(run))).toEqual(run);
});
