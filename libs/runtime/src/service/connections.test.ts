import { expect, test } from "vitest";
import { z } from "zod";
import { connectionsOf, connectionVariables, leaseOwner } from "./connections.ts";
import { parseEnvironment } from "./environment.ts";

const schema = z.object(connectionVariables);
const required = { TRAINYARD_POSTGRES_URL: "postgres://x", TRAINYARD_NATS_URL: "127.0.0.1:4222" };

test("an absent variable has its default, and by default ports listen on this machine only", () => {
  expect(connectionsOf(parseEnvironment(schema, required))).toEqual({
    postgresUrl: "postgres://x",
    nats: { url: "127.0.0.1:4222" },
    http: { host: "127.0.0.1", port: 0 },
    logLevel: "info",
  });
});

test("variables that are set override the defaults", () => {
  const said = {
    ...required,
    TRAINYARD_NATS_USER: "relay",
    TRAINYARD_NATS_PASSWORD: "secret",
    TRAINYARD_HTTP_PORT: "8081",
    TRAINYARD_POSTGRES_PASSWORD: "a/b",
  };
  expect(connectionsOf(parseEnvironment(schema, said))).toMatchObject({
    nats: { user: "relay", password: "secret" },
    http: { port: 8081 },
    postgresUrl: "postgres://x?password=a%2Fb",
  });
});

test("the error names each missing or wrong variable", () => {
  const wrong = { TRAINYARD_NATS_URL: "x", TRAINYARD_HTTP_PORT: "70000" };
  expect(() => parseEnvironment(schema, wrong)).toThrow(
    /TRAINYARD_POSTGRES_URL.*TRAINYARD_HTTP_PORT/,
  );
});

test("two lease owners never have the same name", () => {
  expect(leaseOwner("relay")).not.toBe(leaseOwner("relay"));
});
