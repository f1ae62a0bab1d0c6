import { Cost, gatewayRoutes } from "@trainyard/contracts/routes";
import { expect, test, vi } from "vitest";
import { type Caller, nobody } from "./caller.ts";
import { costRows, Costs } from "./costs.ts";

const callerOf = (token: string): Caller => ({
  ...nobody,
  ...{ authid: "ada", owner: "ada", user: "local", token },
});
const signal = new AbortController().signal;
const asked = (token: string) => ({ caller: callerOf(token), signal });

test("each call says what it costs, and its class has turns, or is counted while it is open", () => {
  for (const { name, kind, facts } of gatewayRoutes()) {
    const row = costRows[facts.cost];
    expect(row, name).toBeDefined();
    if (kind === "unary") expect(row, name).toHaveProperty("turns");
  }
});

test("workers of a run that all ask for its signals do not delay its checkpoints", async () => {
  const routes = gatewayRoutes();
  const costOf = (call: string): Cost =>
    routes.find((route) => route.call === call)?.facts.cost ?? Cost.UNSPECIFIED;
  const costs = new Costs();
  const ends = Promise.withResolvers<void>();
  let waiting = 0;
  const polls = Array.from({ length: 256 }, () =>
    costs.during(costOf("getSignals"), asked("run"), () => ((waiting += 1), ends.promise)),
  );
  await vi.waitFor(() => expect(waiting).toBe(256));
  expect(await costs.during(costOf("declareCheckpoint"), asked("run"), async () => "done")).toBe(
    "done",
  );
  ends.resolve();
  await Promise.all(polls);
});

test("a caller with many calls waits for its own, and another has its turn at once", async () => {
  const costs = new Costs({ [Cost.CODE]: { turns: { max: 2, ofOneMax: 1, waitingOfOneMax: 2 } } });
  const ends = Promise.withResolvers<void>();
  const begun: string[] = [];
  const call = (token: string) =>
    costs.during(Cost.CODE, asked(token), async () => {
      begun.push(token);
      await ends.promise;
    });
  const many = [call("1"), call("1"), call("1")];
  const other = call("2");
  await vi.waitFor(() => expect(begun.toSorted()).toEqual(["1", "2"]));
  await expect(call("1")).rejects.toMatchObject({ status: 503 });
  ends.resolve();
  await Promise.all([...many, other]);
  expect(begun).toHaveLength(4);
});

test("passes over the whole log take place one at a time, for all callers together", async () => {
  const cost = gatewayRoutes().find(({ call }) => call === "verifyLog")?.facts.cost;
  const costs = new Costs();
  let [running, most] = [0, 0];
  const pass = (token: string) =>
    costs.during(cost ?? Cost.UNSPECIFIED, asked(token), async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
    });
  await Promise.all(["1", "1", "2", "3", "4"].map(pass));
  expect(most).toBe(1);
});

test("streams and downloads are counted by caller and in all, until they end", async () => {
  const costs = new Costs({ [Cost.STREAM]: { open: { ofOneMax: 2, ofAllMax: 3 } } });
  const ends = Promise.withResolvers<void>();
  const open = (token: string, until = ends.promise) =>
    costs.during(Cost.STREAM, asked(token), () => until);
  const refused = { status: 429, code: "too_many_streams" };
  const first = Promise.withResolvers<void>();
  const opened = [open("1", first.promise), open("1")];
  await expect(open("1")).rejects.toMatchObject(refused);
  opened.push(open("2"));
  await expect(open("3")).rejects.toMatchObject(refused);
  first.resolve();
  await opened[0];
  opened.push(open("3"));
  await expect(open("1")).rejects.toMatchObject(refused);
  ends.resolve();
  await Promise.all(opened);
});

test.each([Cost.COMMAND, Cost.STREAM, Cost.WATCH])(
  "callers with as many calls of cost %d as they may have leave places to others",
  async (cost) => {
    const costs = new Costs();
    const ends = Promise.withResolvers<void>();
    const begun = new Set<string>();
    const calls: Promise<unknown>[] = [];
    const call = (token: string) => {
      const made = costs.during(cost, asked(token), async () => {
        begun.add(token);
        await ends.promise;
      });
      calls.push(made.catch(() => {}));
    };
    for (let caller = 1; caller <= 8; caller += 1) {
      for (let number = 1; number <= 200; number += 1) call(`greedy ${caller}`);
    }
    call("modest");
    await vi.waitFor(() => expect(begun).toContain("modest"));
    ends.resolve();
    await Promise.all(calls);
  },
);
