/** Tests a search that an external process decides: its operations stay the same when it or the platform is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { checkout } from "@trainyard/local-cluster";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const sdk = join(checkout, "libs", "sdk-python", "src");
const example = join(checkout, "examples", "custom-search", "halving.py");

const clients: ChildProcess[] = [];

afterAll(() => {
  for (const client of clients) client.kill("SIGKILL");
});

function python(args: readonly string[]): ChildProcess {
  const { api, token } = world.access;
  const child = spawn("python3", ["-W", "error::ResourceWarning", ...args], {
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: sdk,
      PYTHONDONTWRITEBYTECODE: "1",
      TRAINYARD_URL: api,
      TRAINYARD_TOKEN: token,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  clients.push(child);
  return child;
}

type Event = { readonly name: string; readonly data: Readonly<Record<string, unknown>> };

/** The events of the search, with shortened names. */
async function eventsOf(experiment: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  const request = { experiment, noFollow: true };
  for await (const { message } of world.client.stream("watchSearchEvents", request)) {
    events.push({ name: message.type.split(".")[3] ?? "", data: message.data ?? {} });
  }
  return events;
}

/** The posted operations, in order, without the ids, which depend on the order of the trials' reports. */
async function operationsOf(experiment: string): Promise<readonly unknown[]> {
  const posted = (await eventsOf(experiment)).filter(({ name }) => name === "OperationsPosted");
  return posted.flatMap(({ data }) =>
    (data["operations"] as readonly { readonly id: string }[]).map(({ id: _id, ...wish }) => wish),
  );
}

async function observed(experiment: string): Promise<number> {
  return (await eventsOf(experiment)).filter(({ name }) => name === "ObservationRecorded").length;
}

/** The id of the experiment that a client submits under its name, beside the ones that are known already. */
async function submitted(...known: readonly string[]): Promise<string> {
  let id = "";
  await eventually("the client has submitted its experiment", async () => {
    const { items } = await world.client.call("listExperiments", { pageSize: 500 });
    id = items.find((one) => one.name === "halved" && !known.includes(one.id))?.id ?? "";
    return id !== "";
  });
  return id;
}

async function killed(client: ChildProcess): Promise<void> {
  client.kill("SIGKILL");
  await once(client, "close");
}

/** Trials that train slowly enough for kills in between, and stop when asked. */
const slow = `
name: halved
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: custom, metric: loss, max_trials: 9, max_concurrent_trials: 4 }
environment: { environment_variables: ["STEPS=1000", "STEP_SECONDS=0.1"] }
reproducibility: { experiment_seed: 1936 }
`;

function halving(key: string): ChildProcess {
  const config = world.write("halving.yaml", slow);
  return python([
    example,
    key,
    join(world.folder, config),
    join(world.folder, world.code("curves")),
  ]);
}

test("kill -9 of the client, the searcher and the gateway change none of its operations", async () => {
  const calm = halving("calm");
  expect((await once(calm, "close"))[0]).toBe(0);
  const undisturbed = await submitted();

  let client = halving("killed");
  const disturbed = await submitted(undisturbed);
  const untilMore = async () => {
    const before = await observed(disturbed);
    await eventually("a further observation", async () => (await observed(disturbed)) > before);
  };
  await untilMore();
  await killed(client);
  await untilMore();
  client = halving("killed");
  for (const part of ["searcher", "gateway"]) {
    const pid = await world.kill(part);
    await world.untilUp(part, pid);
    await untilMore();
  }
  await killed(client);
  await eventually("the search waits for its client", async () => {
    const { waitsFor, state } = await world.client.call("getExperiment", { experiment: disturbed });
    return waitsFor.includes("operations of the search's client") || state !== "ACTIVE";
  });
  expect((await world.yard("experiment", "describe", disturbed)).out).toMatch(
    /^waits for +operations of the search's client/m,
  );
  client = halving("killed");
  expect((await once(client, "close"))[0]).toBe(0);

  const operations = await operationsOf(undisturbed);
  // Nine trials are proposed; six are closed and three continue; two more are closed and one continues; the search
  // ends.
  expect(operations).toHaveLength(9 + 9 + 3 + 1);
  expect(await operationsOf(disturbed)).toEqual(operations);
  for (const experiment of [undisturbed, disturbed]) {
    expect(await world.end(experiment)).toBe("COMPLETED");
    const { items } = await world.client.call("listTrials", { experiment, pageSize: 100 });
    expect(items.map(({ state, origin }) => [state, origin])).toEqual(
      items.map(() => ["COMPLETED", "client"]),
    );
    const replayed = await world.yard("search", "replay", experiment);
    expect(replayed.code).toBe(0);
  }
  const why = (await world.yard("search", "explain", disturbed)).out;
  expect(why).toMatch(/suspended: it has reached 10, the target/);
  expect(why).toMatch(/stopped: client: not among the best 3/);
}, 600_000);

const probe = `
import json, sys
from trainyard.search import OperationRefusedError, SearchError
from trainyard.search._api import SearchApi
import os
api = SearchApi(os.environ["TRAINYARD_URL"], os.environ["TRAINYARD_TOKEN"])
answers = []
for batch in json.loads(sys.argv[2]):
    try:
        answers.append(["ok", [[one["id"], one["trial"]] for one in api.post_operations(sys.argv[1], batch)]])
    except OperationRefusedError as error:
        answers.append([error.code, str(error)])
api.close()
print(json.dumps(answers))
`;

const config = `
name: told-by-hand
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 }, kind: fixed }
searcher: { name: custom, metric: loss, max_trials: 2 }
environment: { environment_variables: ["STEPS=1000", "STEP_SECONDS=0.05"] }
`;

test("bad operations are clear errors in Python, and none is recorded", async () => {
  const experiment = await world.submit(config, world.code("curves"));
  await eventually("the search has started", async () => (await eventsOf(experiment)).length > 0);
  const propose = (id: string, hyperparameters: object) => ({ id, propose: { hyperparameters } });
  const good = propose("a", { lr: 0.5 });
  const batches = [
    [good, { id: "b", stop: { trial: 9 } }],
    [propose("c", { lr: 2 })],
    [propose("d", { lr: 0.5, units: 3 })],
    [good],
    [good],
    [propose("a", { lr: 0.6 })],
    [propose("e", { lr: 0.1 }), propose("f", { lr: 0.2 })],
  ];
  const child = python(["-c", probe, experiment, JSON.stringify(batches)]);
  if (child.stdout === null) throw new Error("the client has no output");
  expect(await json(child.stdout)).toEqual([
    ["trial_unknown", expect.stringContaining('operation "b": the search has no trial 9')],
    ["invalid_hyperparameters", expect.stringContaining("hyperparameters.lr must be between 0")],
    ["invalid_hyperparameters", expect.stringContaining("hyperparameters.units is not a hyper")],
    ["ok", [["a", 1]]],
    ["ok", [["a", 1]]],
    ["operation_id_reused", expect.stringContaining('operation "a"')],
    ["too_many_trials", expect.stringContaining('operation "f": the search already has 2 trials')],
  ]);
  const names = (await eventsOf(experiment)).map(({ name }) => name);
  expect(names.filter((name) => name !== "ObservationRecorded")).toEqual([
    "SearchStarted",
    "OperationsPosted",
    "TrialProposed",
  ]);
  const file = world.write(
    "end.json",
    JSON.stringify([{ id: "end", finish: { failed: true, reason: "seen enough" } }]),
  );
  const late = { operations: [{ id: "late", progress: { progress: 0.5 } }], restsOn: 1 };
  const body = world.write("late.json", JSON.stringify(late));
  expect((await world.yard("search", "post", experiment, body)).err).toContain("version");
  expect((await world.yard("search", "post", experiment, file)).code).toBe(0);
  const ended = await world.yard("experiment", "wait", experiment);
  expect(ended.code).toBe(1);
  expect(ended.err).toContain("ended ERROR: client: seen enough");
  const listed = await world.yard("search", "events", experiment);
  expect(listed.out).toMatch(/ {5}1 {2}.* SearchStarted/);
});
