import { allRights } from "@trainyard/access";
import { create, type DescMethod, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import fastifyCookie from "@fastify/cookie";
import { ClusterService, HttpRuleSchema, http } from "@trainyard/contracts/api";
import { Cost, gatewayRoutes, pathOf, type Route, routesOf } from "@trainyard/contracts/routes";
import { systemClock } from "@trainyard/kernel/system-clock";
import fastify, { type FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { createLogger } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { here, withoutRates } from "../testing/without-rates.ts";
import { Access, type AccessDeps, callerOf, gatewayBodies } from "./access.ts";
import { acceptJson } from "./bodies.ts";
import { type Caller, nobody } from "./caller.ts";
import { Costs } from "./costs.ts";
import { IdempotencyStore } from "./idempotency.ts";
import type { OpenCalls } from "./open-calls.ts";
import { OpenChecks } from "./open-checks.ts";
import { Problem } from "./problem.ts";
import type { Handlers } from "./request-context.ts";
import { registerRoutes } from "./router.ts";

const user: Caller = {
  ...nobody,
  ...{ authid: "ada", owner: "ada", user: "local", token: "1" },
};
const run: Caller = {
  kind: "run",
  task: null,
  experiment: "1",
  authid: "run-1.1#1",
  allocation: "1.1#1",
  trial: "1.1",
  run: 1,
  grantPosition: 1,
};

const accessDeps: AccessDeps = {
  authenticate: async ({ authorization }) => (authorization === "run" ? run : user),
  hasEnded: async () => false,
  clusterId: () => "1",
  bodies: gatewayBodies(),
  unreadable: () => null,
  ...withoutRates,
};

/** Returns the route of a made-up call that returns a secret, and says only its HTTP rule and its cost. */
function silentRoute(): Route {
  const { createToken } = ClusterService.method;
  const options = create(MethodOptionsSchema);
  const pattern = { case: "post", value: "/api/v1/made-up" } as const;
  setExtension(options, http, create(HttpRuleSchema, { pattern, body: "*" }));
  const revealSecret: DescMethod = {
    ...createToken,
    name: "RevealSecret",
    localName: "revealSecret",
    proto: { ...createToken.proto, options },
  };
  const [route] = routesOf([{ ...ClusterService, methods: [revealSecret] } as DescService]);
  if (route === undefined) throw new Error("the made-up call has no route");
  return { ...route, facts: { ...route.facts, cost: Cost.COMMAND } };
}

let gateway: TestGateway;
/** Serves the made-up call and all calls of the API; each answers with an empty message. */
let server: FastifyInstance;
let attempts = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  const access = new Access(accessDeps);
  server = fastify();
  server.register(fastifyCookie);
  server.setErrorHandler((error, _request, reply) =>
    reply.status(error instanceof Problem ? error.status : 500).send(String(error)),
  );
  acceptJson(server, access);
  const revealSecret = async () => {
    attempts += 1;
    return { secret: `revealed-${attempts}` };
  };
  const routes = gatewayRoutes();
  const unary = routes.map(({ call, reply }) => [call, async () => create(reply)] as const);
  const deps = {
    ...accessDeps,
    handlers: {
      unary: { ...Object.fromEntries(unary), revealSecret },
      streams: {},
      raw: {},
    } as unknown as Handlers,
    idempotency: new IdempotencyStore({ query: gateway.sql } as unknown as Pool),
    draining: new AbortController().signal,
    openCalls: {} as OpenCalls,
    costs: new Costs(),
    directory: { named: <Message extends object>(_reply: unknown, answer: Message) => answer },
    guard: { require: async () => allRights("ada"), requireStill: async () => {} },
    checks: new OpenChecks({ clock: systemClock, logger: createLogger("gateway", "error") }),
    reached: async () => {},
    clock: systemClock,
    problemText: String,
  };
  registerRoutes(server, access, deps, [silentRoute(), ...routes]);
});

afterAll(async () => {
  await server.close();
  await gateway[Symbol.asyncDispose]();
});

const reveal = (authorization: string) =>
  server.inject({
    method: "POST",
    url: "/api/v1/made-up",
    headers: { authorization, "idempotency-key": "made-up" },
    payload: {},
  });

test("a made-up call without options stores no answer, so its secret stays out of the database", async () => {
  expect((await reveal("user")).json()).toMatchObject({ secret: "revealed-1" });
  const { rows } = await gateway.sql(
    "select * from gateway.idempotency where caller = 'token-1' and key = 'made-up'",
  );
  expect(rows).toMatchObject([{ status: null, answer: null }]);
  expect(JSON.stringify(rows)).not.toContain("revealed");
  expect((await reveal("user")).json()).toMatchObject({ secret: "revealed-2" });
});

test("a made-up call without options is refused to runs", async () => {
  const before = attempts;
  expect((await reveal("run")).statusCode).toBe(403);
  expect(attempts).toBe(before);
});

test("every call would be refused to runs without its options", async () => {
  const { facts } = silentRoute();
  const routes = gatewayRoutes();
  expect(routes.length).toBeGreaterThan(100);
  for (const { call, method } of routes) {
    const refused = callerOf(
      accessDeps,
      { facts, method },
      { authorization: "run", session: undefined },
      here,
    );
    await expect(refused, call).rejects.toMatchObject({ status: 403, code: "not_for_runs" });
  }
});

test("a run makes a call after the end of its trial only if its options say so", async () => {
  const deps = { ...accessDeps, hasEnded: async () => true };
  const refused = gatewayRoutes().filter(({ facts }) => facts.forRuns && !facts.afterTrial);
  expect(refused.map(({ call }) => call).sort()).toEqual([
    "listTensorBoardFiles",
    "listTensorBoardTrials",
    "planFiles",
    "readCheckpointAhead",
    "readTensorBoardFile",
    "registerModelVersion",
    "reportDamagedCheckpoint",
  ]);
  for (const route of gatewayRoutes()) {
    if (!route.facts.forRuns) continue;
    const made = callerOf(deps, route, { authorization: "run", session: undefined }, here);
    if (route.facts.afterTrial) await made;
    else await expect(made, route.call).rejects.toMatchObject({ status: 403, code: "trial_ended" });
  }
});

const keyOf = ({ method, path }: Route): string => `${method}:${path}`;

/** Makes a call of the API with an idempotency key. */
const make = (route: Route, authorization: string) =>
  server.inject({
    method: route.method,
    url: pathOf(route, Object.fromEntries(route.pathFields.map((field) => [field, "1"]))),
    headers: { authorization, "idempotency-key": keyOf(route) },
    ...(route.hasBody && { payload: {} }),
  });

test("a run makes a call only if its options say that it is for runs or needs no token", async () => {
  for (const route of gatewayRoutes()) {
    if (route.kind !== "unary") continue;
    const { forRuns, open } = route.facts;
    const { statusCode } = await make(route, "run");
    expect([route.call, statusCode]).toEqual([route.call, forRuns || open ? 200 : 403]);
  }
});

test("the answer of a call is stored only if its options say so", async () => {
  for (const route of gatewayRoutes()) {
    if (route.kind !== "unary") continue;
    expect([route.call, (await make(route, "user")).statusCode]).toEqual([route.call, 200]);
    const { rows } = await gateway.sql(
      "select answer is not null as stored from gateway.idempotency where caller = 'token-1' and key = $1",
      [keyOf(route)],
    );
    expect([route.call, rows.some(({ stored }) => stored)]).toEqual([
      route.call,
      route.facts.storesAnswer,
    ]);
  }
});
