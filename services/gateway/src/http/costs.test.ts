import { Cost, gatewayRoutes } from "@trainyard/contracts/routes";
import { expect, test } from "vitest";
import type { Caller } from "./caller.ts";
import { costRows, Costs } from "./costs.ts";
import type { Problem } from "./problem.ts";

const callerOf = (token: string): Caller => ({
  ...{ kind: "user", authid: "ada", owner: "ada", run: null, token, ancestors: [] },
  ...{ session: null, tokenExpiresAtMs: undefined },
});
const signal = new AbortController().signal;
const asked = (token: string) => ({ caller: callerOf(token), signal });

test("each call says what it costs, and its class has turns, or is counted while it is open", () => {
  for (const { name, kind, facts } of gatewayRoutes()) {
    const row = costRows[facts.cost];
    expect(row, name).toBeDefined();
    expect(Object.keys(row ?? {}), name).toEqual([kind === "unary" ? "turns" : "open"]);
  }
});

test("a caller with many calls waits for its own, and another has its turn at once", async () => {
  const costs = new Costs({ [Cost.CODE]: { turns: { max: 2, ofOneMax: 1, waitingOfOneMax: 2 } } });
  const ends = Promise.withResolvers<void>();
  const begun: string[] = [];
  const call = (token: string) =>
    costs.turn(Cost.CODE, asked(token), async () => {
      begun.push(token);
      await ends.promise;
    });
  const many = [call("1"), call("1"), call("1")];
  const other = call("2");
  expect(begun).toEqual([]);
  await Promise.resolve();
  expect(begun.toSorted()).toEqual(["1", "2"]);
  await expect(call("1")).rejects.toMatchObject({ status: 503 });
  ends.resolve();
  await Promise.all([...many, other]);
  expect(begun).toHaveLength(4);
});

test("streams and downloads are counted by caller and in all, until they end", () => {
  const costs = new Costs({ [Cost.STREAM]: { open: { ofOneMax: 2, ofAllMax: 3 } } });
  const open = (token: string) => costs.open(Cost.STREAM, callerOf(token));
  const first = open("1");
  open("1");
  const refused: Partial<Problem> = { status: 429, code: "too_many_streams" };
  expect(() => open("1")).toThrow(expect.objectContaining(refused));
  open("2");
  expect(() => open("3")).toThrow(expect.objectContaining(refused));
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  open("3");
  expect(() => open("1")).toThrow(expect.objectContaining(refused));
});
