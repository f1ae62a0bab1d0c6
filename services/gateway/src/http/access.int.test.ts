import { nobody } from "./caller.ts";
import type { IncomingMessage } from "node:http";
import { gatewayRoutes } from "@trainyard/contracts/routes";
import type { FastifyReply, FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sendHead } from "../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { withoutRates } from "../testing/without-rates.ts";
import { Access, gatewayBodies } from "./access.ts";
import { httpLimits } from "./limits.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway[Symbol.asyncDispose]());

const announced = (bytes: number, token: string | null, path = "/api/v1/experiments") =>
  sendHead(`${gateway.url}${path}`, {
    "content-type": "application/json",
    "content-length": bytes,
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  });

const patience = (ms: number): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, null);
  });

const runToken = () => gateway.runToken("1.1#1");

describe("nothing but the headers of a request is read", () => {
  test.each([
    ["whose caller has no token", () => announced(1_000, null), 401],
    ["whose token is made up", () => announced(1_000, "ty_no"), 401],
    ["that a run may not make", async () => announced(1_000, await runToken()), 403],
    ["that a run may not watch", async () => announced(9, await runToken(), "/api/v1/watch"), 403],
    ["to a path that is not served", () => announced(1_000, null, "/api/v1/nothing"), 404],
  ])("%s: it is refused before its body comes", async (_what, send, status) => {
    const { answer, hangUp } = await send();
    expect((await answer).statusCode).toBe(status);
    hangUp();
  });
});

test("only callers that may read lists can watch them", async () => {
  const access = new Access({
    authenticate: async () => ({
      ...nobody,
      ...{ authid: "1", owner: "1", user: "local", token: "1" },
    }),
    hasEnded: async () => false,
    requireInTime: async () => {},
    clusterId: () => "1",
    bodies: gatewayBodies(),
    unreadable: () => "the read model is behind",
    ...withoutRates,
  });
  const route = gatewayRoutes().find(({ call }) => call === "watch");
  if (route === undefined) throw new Error("there is no route to watch");
  const raw = { headers: {}, socket: {} } as IncomingMessage;
  const request = { headers: {}, cookies: {}, raw } as FastifyRequest;
  await expect(access.admit(route, 1_000, request, {} as FastifyReply)).rejects.toMatchObject({
    status: 503,
    message: "the read model is behind",
  });
});

test("a large body beyond the limit is refused with a retry, and small ones are accepted", async () => {
  const { createBodyBytesMax: large, largeBodiesBytesMax } = httpLimits;
  const held = [];
  let refused: IncomingMessage | null = null;
  // The requests are opened one after the other and held open; a slow refusal only leaves more of them open.
  while (refused === null) {
    const one = announced(large, gateway.token);
    refused = await Promise.race([one.answer, patience(100)]);
    held.push(one);
    expect(held.length).toBeLessThan(50);
  }
  expect(refused.statusCode).toBe(503);
  expect(refused.headers["retry-after"]).toBe("1");
  expect(held.length).toBeGreaterThan(Math.floor(largeBodiesBytesMax / large));
  expect((await gateway.call("POST", "/api/v1/tokens", { body: {} })).status).toBe(200);
  for (const { hangUp } of held) hangUp();
  const body = { config: "x".repeat(2 * httpLimits.largeBodyBytes) };
  await vi.waitFor(async () => {
    expect((await gateway.call("POST", "/api/v1/experiments", { body })).status).toBe(400);
  }, 90_000);
});

test("a body that is nested deeper than JSON.stringify allows is refused", async () => {
  const nested = (levels: number) =>
    fetch(`${gateway.url}/api/v1/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
      body: `${'{"label":'.repeat(levels)}1${"}".repeat(levels)}`,
    });
  for (const levels of [httpLimits.bodyDepthMax + 1, 3_000, 100_000]) {
    const refused = await nested(levels);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("levels deep");
  }
  expect(await (await nested(httpLimits.bodyDepthMax)).text()).not.toContain("levels deep");
});
