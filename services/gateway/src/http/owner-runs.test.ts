import { encodeEvent } from "@trainyard/contracts";
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { gatewayRoutes } from "@trainyard/contracts/routes";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta, FoldCache } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import type { TokenDocument } from "../read-model/core/views/documents.ts";
import { taskCreated } from "../testing/example-events.ts";
import { here, withoutRates } from "../testing/without-rates.ts";
import { callerOf, gatewayBodies } from "./access.ts";
import { countedAs, type TaskRunCaller, tokenOf } from "./caller.ts";
import { httpLimits } from "./limits.ts";
import { OwnerRuns } from "./owner-runs.ts";
import { Problem } from "./problem.ts";

const ended: AnyEvent = {
  type: "AllocationEnded",
  data: { cause: AllocationEndCause.EXITED, exits: [], message: "" },
};

/** The run of a task of some kind, whose fold cache follows no log. */
async function stage(
  kind: string,
  token: Partial<TokenDocument> = {},
  creator: Pick<EventData<"TaskCreated">, "owner" | "tokenId"> = { owner: "eva", tokenId: "k1" },
) {
  const clock = new ManualClock();
  const memory = createMemoryLog({ clock });
  const { store } = memory;
  let reads = 0;
  const append = async (owner: string, stream: string, ...events: readonly AnyEvent[]) => {
    const written = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
    const writes = [{ stream, expectedVersion: store.version(stream), events: written }];
    await memory.as(owner).append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  };
  const started = taskCreated({ kind, ...creator });
  const disabled = new Set<string>();
  await append("experiments", "task-t1", started);
  await append("scheduler", "allocation-t1#1", { type: "AllocationStarted", data: { starts: [] } });
  const log: EventLog = memory.as("gateway");
  const counted = {
    read: (...asked: Parameters<EventLog["read"]>) => {
      reads += 1;
      return log.read(...asked);
    },
  } as EventLog;
  const known = { id: "k1", owner: "ada", ancestors: ["k0"], revoked: false, ...token };
  const owners = new OwnerRuns({
    log: counted,
    cache: new FoldCache(log),
    token: async (id) => (id === "k1" ? (known as TokenDocument) : undefined),
    requireEnabled: async (user) => {
      if (disabled.has(user)) throw new Problem(401, "user_disabled", "ask an admin");
    },
    clock,
  });
  const run: TaskRunCaller = {
    ...{ kind: "run", authid: "run:t1#1", allocation: "t1#1", run: 1, grantPosition: 2 },
    task: "t1",
    asOwner: () => owners.userOf(run),
    requireOpen: () => owners.requireOpen(run.allocation),
  };
  const call = (name: string) => {
    const route = gatewayRoutes().find((one) => one.call === name);
    if (route === undefined) throw new Error(`there is no call ${name}`);
    const deps = {
      authenticate: async () => run,
      hasEnded: async () => false,
      requireInTime: async () => {},
      clusterId: () => "1",
      bodies: gatewayBodies(),
      unreadable: () => null,
      ...withoutRates,
    };
    return callerOf(deps, route, { authorization: "run", session: undefined }, here);
  };
  return { clock, append, run, call, disabled, reads: () => reads };
}

/** Calls that a run never makes for its owner, by the words in their names. */
const forbidden =
  /Token|Session|Task|Parked|Storage|Deletions$|Hold$|Log$|Anchor|Events?$|View|Subscription|Webhook|[dD]eliver|rotateSecret|(create|update|remove)Pool|(trust|disable|drain|enable|remove)Agent|Group|Role|Grants$|Password|(create|update|disable|enable)User|DeviceLogin/;
/** Reads of them that every client of a search needs. */
const allowed = new Set(["watchSearchEvents"]);
/** Calls of runs about themselves. */
const ofRuns =
  /^(getSignals|recordEnvironment|writeReports|failCheckpoint|readCheckpointAhead|reportDamagedCheckpoint|planTensorBoard|listTensorBoard.*|readTensorBoardFile)$/;

test("a run makes every call of people for its task's owner except those about users, tokens, sessions, tasks, pools, agents, storages, subscriptions and the log", async () => {
  for (const { call, facts } of gatewayRoutes()) {
    const isOpen = facts.open || (forbidden.test(call) && !allowed.has(call)) || ofRuns.test(call);
    expect([call, facts.forOwner]).toEqual([call, !isOpen]);
  }
});

test.each(["command", "shell", "notebook"])(
  "the run of a %s is its task in the calls for its owner, with the rights of the token that started it",
  async (kind) => {
    const { call, run } = await stage(kind);
    const caller = await call("createExperiment");
    expect(caller).toMatchObject({ kind: "user", authid: "task:t1", owner: "eva", token: "k1" });
    expect([countedAs(caller), tokenOf(caller)]).toEqual(["run:t1#1", "k1"]);
    expect(caller).toMatchObject({ ancestors: ["k0"], run: { allocation: run.allocation } });
    for (const { call: name, facts } of gatewayRoutes()) {
      if (facts.open || facts.signsIn || facts.forOwner || facts.forTasks) continue;
      await expect(call(name), name).rejects.toMatchObject({ status: 403, code: "not_for_tasks" });
    }
  },
);

test("the run of a TensorBoard makes no call for its owner", async () => {
  const { call } = await stage("tensorboard");
  for (const { call: name, facts } of gatewayRoutes()) {
    if (!facts.forOwner || facts.forTasks) continue;
    await expect(call(name), name).rejects.toMatchObject({ status: 403, code: "not_for_tasks" });
  }
});

test.each([
  ["was revoked", { revoked: true }, "token_revoked"],
  ["has expired", { expiresAtMs: 0 }, "token_expired"],
])("a run whose task's token %s has no rights of its owner", async (_what, token, code) => {
  const { call } = await stage("notebook", token);
  await expect(call("listExperiments")).rejects.toMatchObject({ status: 401, code });
});

test("the run of a task that a person started in a session is that person, until the person is disabled", async () => {
  const { call, disabled } = await stage("notebook", {}, { owner: "user:eva", tokenId: "" });
  const caller = await call("createExperiment");
  expect(caller).toMatchObject({ authid: "task:t1", owner: "user:eva", user: "eva", limits: [] });
  expect([countedAs(caller), tokenOf(caller)]).toEqual(["run:t1#1", ""]);
  disabled.add("eva");
  const refusal = { status: 401, code: "user_disabled" };
  await expect(call("listExperiments")).rejects.toMatchObject(refusal);
  expect(await call("getSignals")).toMatchObject({ kind: "run", task: "t1" });
});

test("the run of a task keeps the limits of the token that started it", async () => {
  const limits = [{ role: "viewer", workspaces: ["vision"] }];
  const { call } = await stage("shell", { owner: "user:eva", limits });
  expect(await call("listExperiments")).toMatchObject({ user: "eva", limits });
});

test("a run whose task has neither a token nor a user has no rights of an owner", async () => {
  const { call } = await stage("notebook", {}, { owner: "eva", tokenId: "" });
  await expect(call("listExperiments")).rejects.toMatchObject({ code: "not_for_tasks" });
});

test("a run is refused as a user within half a second after its end, also by a replica that does not follow the log", async () => {
  const { clock, append, call, reads } = await stage("notebook");
  await call("listExperiments");
  const before = reads();
  await call("listExperiments");
  expect(reads()).toBe(before);
  await append("scheduler", "allocation-t1#1", ended);
  await clock.advance(httpLimits.ownerRunsConfirmedMs);
  await expect(call("listExperiments")).rejects.toMatchObject({ status: 403, code: "run_ended" });
  expect(await call("getSignals")).toMatchObject({ kind: "run", task: "t1" });
});
