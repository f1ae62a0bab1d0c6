import { errors, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytes, commandOf, eventsFrom, text, until } from "./contract/fixture.ts";
import { createNatsBus } from "./nats/nats-bus.ts";
import { type ServiceName, services } from "@trainyard/kernel/services";
import { natsUsersOf } from "./nats-config.ts";
import { type BusPrincipal, busPrincipals, busUserOf } from "./permissions.ts";
import type { Bus } from "./port.ts";
import { startNats, type TestNats } from "./testing/nats-server.ts";
import { inboxPrefixOf } from "./subjects.ts";

const principals = busPrincipals({
  services: services.map(({ name }) => name),
  agents: ["rack.1", "rack2"],
  subscriptions: ["nightly"],
});

/** One subject of each kind, to detect a user with too many permissions. */
const probes = [
  "ty.event.trial.12%2E3.TrialCreated",
  ...services.map(({ name }) => `ty.cmd.${name}.SomeCommand`),
  "ty.cmd.logs.WriteLines",
  "ty.cmd.registry.PlanContextDownload",
  "ty.cmd.registry.RecordRewind",
  "ty.metric.12.12%2E3.training",
  "ty.log.12%2E3%231",
  "ty.agent.rack%2E1.do",
  "ty.agent.rack%2E1.report",
  "ty.agent.rack2.do",
  "ty.agent.rack2.report",
  "ty.probe.scheduler",
  "ty.probe.gateway",
  "ty.feed.nightly",
  "ty.feed.other",
  "ty.feed-ack.nightly.12",
  "ty.feed-ack.other.12",
  "ty.other",
  "elsewhere",
  "$SRV.PING",
  "$SRV.PING.experiments",
  "$SRV.PING.experiments.x",
  "$SRV.PING.gateway",
  "$SYS.REQ.SERVER.PING",
  "$JS.API.INFO",
  ...["EVENTS", "METRICS", "LOGS"].flatMap((stream) => [
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.UPDATE.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.DELETE.${stream}`,
    `$JS.API.STREAM.PURGE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.STREAM.MSG.DELETE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
  ]),
  "_INBOX.x",
  ...principals.map((principal) => `${inboxPrefixOf(busUserOf(principal))}.x`),
];
const wildcards = [
  ">",
  "ty.>",
  "ty.cmd.>",
  "ty.agent.>",
  "_INBOX_experiments.>",
  "$JS.>",
  "$SRV.>",
];

const everyCommand = probes.filter((subject) => subject.startsWith("ty.cmd."));
const stream = (name: string) =>
  ["CREATE", "UPDATE", "INFO"].map((verb) => `$JS.API.STREAM.${verb}.${name}`);
const served = (service: string) => [
  ...everyCommand.filter((subject) => subject.startsWith(`ty.cmd.${service}.`)),
  "$SRV.PING",
  ...probes.filter((subject) => subject.startsWith(`$SRV.PING.${service}`)),
];
const event = "ty.event.trial.12%2E3.TrialCreated";
const rewind = "ty.cmd.registry.RecordRewind";
const endOfEvents = ["$JS.API.STREAM.INFO.EVENTS", "$JS.API.STREAM.MSG.GET.EVENTS"];

/** The expected permissions: the subjects that each user may publish and subscribe to, besides its inbox. */
const table: Readonly<
  Record<string, { publish: readonly string[]; subscribe: readonly string[] }>
> = {
  experiments: { publish: [rewind, ...endOfEvents], subscribe: [event, ...served("experiments")] },
  searcher: { publish: [rewind], subscribe: [event, ...served("searcher")] },
  scheduler: {
    publish: ["ty.agent.rack%2E1.do", "ty.agent.rack2.do", "ty.probe.scheduler", rewind],
    subscribe: [
      event,
      ...served("scheduler"),
      "ty.agent.rack%2E1.report",
      "ty.agent.rack2.report",
      "ty.probe.scheduler",
    ],
  },
  metrics: {
    publish: ["ty.metric.12.12%2E3.training", ...stream("METRICS"), rewind, ...endOfEvents],
    subscribe: [event, ...served("metrics")],
  },
  logs: {
    publish: ["ty.log.12%2E3%231", ...stream("LOGS"), rewind, ...endOfEvents],
    subscribe: [event, ...served("logs")],
  },
  registry: { publish: [rewind, ...endOfEvents], subscribe: [event, ...served("registry")] },
  "checkpoint-gc": {
    publish: [rewind, ...endOfEvents],
    subscribe: [event, ...served("checkpoint-gc")],
  },
  feeds: {
    publish: ["ty.feed.nightly", "ty.feed.other", rewind],
    subscribe: [event, ...served("feeds"), "ty.feed-ack.nightly.12", "ty.feed-ack.other.12"],
  },
  "feed-nightly": { publish: ["ty.feed-ack.nightly.12"], subscribe: ["ty.feed.nightly"] },
  gateway: {
    publish: [
      ...everyCommand,
      ...probes.filter((subject) => subject.startsWith("$SRV.")),
      ...endOfEvents,
    ],
    subscribe: [event, ...served("gateway"), "ty.metric.12.12%2E3.training", "ty.log.12%2E3%231"],
  },
  relay: {
    publish: [
      event,
      ...stream("EVENTS"),
      "$JS.API.STREAM.MSG.GET.EVENTS",
      "$JS.API.STREAM.PURGE.EVENTS",
      rewind,
    ],
    subscribe: [],
  },
  "agent-rack.1": {
    publish: [
      "ty.agent.rack%2E1.report",
      "ty.cmd.logs.WriteLines",
      "ty.cmd.registry.PlanContextDownload",
    ],
    subscribe: ["ty.agent.rack%2E1.do"],
  },
  "agent-rack2": {
    publish: [
      "ty.agent.rack2.report",
      "ty.cmd.logs.WriteLines",
      "ty.cmd.registry.PlanContextDownload",
    ],
    subscribe: ["ty.agent.rack2.do"],
  },
};

const passwordOf = (user: string): string => `password of ${user}`;
let server: TestNats;

beforeAll(async () => {
  server = await startNats({ users: natsUsersOf(principals, passwordOf) });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function connectAs(user: string): Promise<NatsConnection> {
  return connect({
    servers: server.url,
    user,
    pass: passwordOf(user),
    inboxPrefix: inboxPrefixOf(user),
    reconnect: false,
  });
}

/** Returns the subjects that the server refuses, observed on the connection itself. */
async function refusedAt(
  connection: NatsConnection,
  operation: "publish" | "subscription",
  subjects: readonly string[],
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  const watching = (async () => {
    for await (const status of connection.status()) {
      if (status.type !== "error" || !(status.error instanceof errors.PermissionViolationError))
        continue;
      if (status.error.operation === operation) refused.add(status.error.subject);
    }
  })();
  for (const subject of subjects) {
    if (operation === "publish") connection.publish(subject, "{}");
    else connection.subscribe(subject, { callback: () => {} });
  }
  await connection.flush();
  await connection.close();
  await watching;
  return refused;
}

describe.each(principals.map((principal) => ({ user: busUserOf(principal) })))(
  "$user",
  ({ user }) => {
    test("a user may publish on its permitted subjects and is refused on all others", async () => {
      const refused = await refusedAt(await connectAs(user), "publish", probes);
      const allowed = probes.filter((subject) => !refused.has(subject));
      expect(allowed.toSorted()).toEqual([...new Set(table[user]?.publish)].toSorted());
    });

    test("a user may subscribe to its permitted subjects and its inbox, and is refused on all others", async () => {
      const subjects = [
        ...probes,
        ...wildcards.filter((subject) => subject !== `_INBOX_${user}.>`),
      ];
      const refused = await refusedAt(await connectAs(user), "subscription", subjects);
      const allowed = subjects.filter((subject) => !refused.has(subject));
      // A program that receives a subscription asks nothing, so it has no inbox.
      const inbox = user.startsWith("feed-") ? [] : [`${inboxPrefixOf(user)}.x`];
      const expected = [...(table[user]?.subscribe ?? []), ...inbox];
      expect(allowed.toSorted()).toEqual([...new Set(expected)].toSorted());
    });
  },
);

test("a login without a password, or with another user's, is refused", async () => {
  await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(
    /authorization/i,
  );
  const stolen = connect({
    servers: server.url,
    user: "relay",
    pass: passwordOf("gateway"),
    reconnect: false,
  });
  await expect(stolen).rejects.toThrow(/authorization/i);
});

describe("the permissions allow all traffic of the adapter", () => {
  const problems: string[] = [];

  async function busAs(principal: BusPrincipal): Promise<Bus> {
    const name = busUserOf(principal);
    return await createNatsBus({
      servers: server.url,
      name,
      password: passwordOf(name),
      onProblem: (problem) => problems.push(`${name}: ${problem.message}`),
    });
  }
  const serviceBus = (service: ServiceName) => busAs({ kind: "service", service });

  test("events go from the relay to all services that fold them", async () => {
    await using relay = await serviceBus("relay");
    const heard: Record<string, number[]> = {};
    await using stack = new AsyncDisposableStack();
    const folding = [
      "experiments",
      "searcher",
      "scheduler",
      "metrics",
      "registry",
      "checkpoint-gc",
    ] as const;
    for (const service of [...folding, "gateway"] as const) {
      const positions: number[] = [];
      heard[service] = positions;
      await stack
        .use(await serviceBus(service))
        .tailEvents(({ position }) => positions.push(position));
    }
    expect(await relay.lastEvent()).toBeNull();
    await relay.publishEvents(eventsFrom(1, 3));
    expect((await relay.lastEvent())?.position).toBe(3);
    for (const service of ["experiments", "metrics", "logs", "registry", "gateway"] as const) {
      await using reader = await serviceBus(service);
      expect((await reader.lastPublished())?.position).toBe(3);
    }
    await until("all have heard", () => Object.values(heard).every(({ length }) => length === 3));
    expect(problems).toEqual([]);
  });

  test("commands reach every service, and agents reach the services that they call", async () => {
    await using gateway = await serviceBus("gateway");
    await using agent = await busAs({ kind: "agent", agent: "rack.1" });
    await using stack = new AsyncDisposableStack();
    for (const { name: service } of services) {
      if (service === "relay") continue;
      const bus = stack.use(await serviceBus(service));
      const echo = async ({ body }: { readonly body: Uint8Array }) =>
        ({ kind: "ok", body }) as const;
      await bus.serve(service, { SomeCommand: echo, WriteLines: echo, PlanContextDownload: echo });
      const reply = await gateway.request(service, "SomeCommand", commandOf(service), 5_000);
      expect(reply.kind === "ok" && text(reply.body)).toBe(service);
    }
    expect((await agent.request("logs", "WriteLines", commandOf("1"), 5_000)).kind).toBe("ok");
    expect(
      (await agent.request("registry", "PlanContextDownload", commandOf("1"), 5_000)).kind,
    ).toBe("ok");
    expect(problems).toEqual([]);
    const forbidden = agent.request("registry", "SomeCommand", commandOf("1"), 5_000);
    await expect(forbidden).rejects.toMatchObject({ code: "not_permitted", retry: "never" });
    problems.length = 0;
  });

  test("the scheduler and its agents reach each other, and the scheduler receives its probe", async () => {
    await using scheduler = await serviceBus("scheduler");
    await using agent = await busAs({ kind: "agent", agent: "rack.1" });
    const heard: string[] = [];
    await scheduler.subscribe("ty.agent.*.report", ({ body }) => heard.push(text(body)));
    await scheduler.subscribe("ty.probe.scheduler", ({ body }) => heard.push(text(body)));
    await agent.subscribe("ty.agent.rack%2E1.do", ({ body }) => heard.push(text(body)));
    agent.publish("ty.agent.rack%2E1.report", bytes("report"));
    scheduler.publish("ty.agent.rack%2E1.do", bytes("do"));
    scheduler.publish("ty.probe.scheduler", bytes("probe"));
    await until("all is heard", () => heard.length === 3);
    expect(heard.toSorted()).toEqual(["do", "probe", "report"]);
    expect(problems).toEqual([]);
  });

  test("live copies go from metrics and logs to the gateway, and their streams are created", async () => {
    await using metrics = await serviceBus("metrics");
    await using logs = await serviceBus("logs");
    await using gateway = await serviceBus("gateway");
    const heard: string[] = [];
    await gateway.tailLive("ty.metric.>", ({ body }) => heard.push(text(body)));
    await gateway.tailLive("ty.log.>", ({ body }) => heard.push(text(body)));
    metrics.publishLive("METRICS", "ty.metric.1.1.g", bytes("point"));
    logs.publishLive("LOGS", "ty.log.1", bytes("line"));
    await until("both are heard", () => heard.length === 2);
    expect(problems).toEqual([]);
  });

  test("a subscription that is not permitted fails at once", async () => {
    await using agent = await busAs({ kind: "agent", agent: "rack.1" });
    const asked = agent.subscribe("ty.agent.rack2.do", () => {});
    await expect(asked).rejects.toMatchObject({ code: "not_permitted", retry: "never" });
  });
});
