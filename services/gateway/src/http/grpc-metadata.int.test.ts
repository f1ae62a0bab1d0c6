import { createRegistry, fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
  StatusSchema,
} from "@trainyard/contracts/errors";
import { assert } from "@trainyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, bytesOf, type Fields, methodOf, routes } from "../testing/grpc-routes.ts";
import { type GrpcAnswer, GrpcConnection } from "../testing/grpc-call.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let connection: GrpcConnection;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  connection = stack.use(new GrpcConnection(gateway.grpcUrl));
});

afterAll(() => stack.disposeAsync());

const call = (
  service: string,
  name: string,
  fields: Fields,
  headers: Record<string, string> = {},
) => {
  const route = routes.find((one) => one.service === service && one.name === name);
  assert(route !== undefined, `${name} is served`);
  return connection.call(methodOf(route), {
    messages: [bytesOf(route.request, fields)],
    headers: { ...bearer(gateway.token), ...headers },
  });
};

const detailsOf = ({ metadata }: GrpcAnswer) => {
  const bytes = Buffer.from(String(metadata["grpc-status-details-bin"]), "base64");
  const { details, ...status } = fromBinary(StatusSchema, bytes);
  const registry = createRegistry(
    ErrorInfoSchema,
    RetryInfoSchema,
    BadRequestSchema,
    RequestInfoSchema,
  );
  return { ...status, details: details.map((any) => anyUnpack(any, registry)) };
};

describe("metadata", () => {
  test("a repeat under an idempotency key gets the first answer, and another request with the key is refused", async () => {
    const key = { "idempotency-key": "grpc-1" };
    const make = (name: string, headers = key) =>
      call("WorkspaceService", "CreateWorkspace", { name }, headers);
    const [first, again] = [await make("one"), await make("one")];
    expect(first.code).toBe(0);
    expect(again).toMatchObject({ code: 0, messages: first.messages });
    const other = await make("two");
    expect(other).toMatchObject({
      code: 3,
      metadata: { "trainyard-code": "idempotency_key_reused" },
    });
    const bad = await make("two", { "idempotency-key": "a b" });
    expect(bad.metadata["trainyard-code"]).toBe("invalid_idempotency_key");
    expect((await make("one", { "idempotency-key": "grpc-2" })).code).toBe(9);
  });

  test("a repeat whose encoder sends the entries of a map in another order is the same request", async () => {
    const key = { "idempotency-key": "grpc-maps" };
    const codeOf = async (metadata: Fields) => {
      const answer = await call("ModelService", "CreateModel", { name: "maps", metadata }, key);
      return answer.metadata["trainyard-code"];
    };
    // No service of models runs here, so the outcome is open, and the key waits for the same request.
    expect(await codeOf({ a: 1, b: 2 })).toBe("unavailable");
    expect(await codeOf({ b: 2, a: 1 })).toBe("unavailable");
    expect(await codeOf({ a: 1, b: 3 })).toBe("idempotency_key_reused");
  });

  test("if-match is compared with the revision", async () => {
    await call("WorkspaceService", "CreateWorkspace", { name: "kept" });
    const update = (etag: string) =>
      call(
        "WorkspaceService",
        "UpdateWorkspace",
        { workspace: "kept", description: "x" },
        { "if-match": etag },
      );
    expect((await update('"77"')).metadata["trainyard-code"]).toBe("stale_revision");
    expect((await update("*")).code).toBe(0);
  });

  test("a plain request id is in every answer, and another one is replaced, over both protocols", async () => {
    const ids = async (given: string): Promise<readonly unknown[]> => {
      const headers = { "x-request-id": given };
      const found = await call("ClusterService", "GetVersion", {}, headers);
      const missing = await call(
        "ExperimentService",
        "GetExperiment",
        { experiment: "9" },
        headers,
      );
      const nobody = await call(
        "ExperimentService",
        "ListExperiments",
        {},
        { ...headers, authorization: "x" },
      );
      const rest = await gateway.call("GET", "/api/v1/version", { headers });
      const lost = await gateway.call("GET", "/api/v1/experiments/9", { headers });
      const leave = new AbortController();
      const stream = await fetch(`${gateway.url}/api/v1/events`, {
        headers: { ...headers, ...bearer(gateway.token) },
        signal: leave.signal,
      });
      leave.abort();
      return [
        ...[found, missing, nobody].map(({ metadata }) => metadata["x-request-id"]),
        ...[rest, lost, stream].map((answer) => answer.headers.get("x-request-id")),
      ];
    };
    expect(new Set(await ids("build-17.2"))).toEqual(new Set(["build-17.2"]));
    const made = await ids("a b");
    expect(new Set(made).size).toBe(6);
    for (const id of made) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("a failure has google.rpc.Status with its reason, its fields and when to retry", async () => {
    const missing = await call("ExperimentService", "GetExperiment", { experiment: "9" });
    expect(detailsOf(missing)).toMatchObject({
      code: 5,
      message: "there is no experiment 9",
      details: [{ reason: "experiment_not_found", domain: "trainyard" }, {}],
    });
    const config = "name: x\nentrypoint: 7\nsearcher: {name: nothing}\n";
    const invalid = await call("ExperimentService", "CreateExperiment", { config });
    expect(invalid.metadata["trainyard-code"]).toBe("invalid_config");
    const { details } = detailsOf(invalid);
    expect(details.at(-1)).toMatchObject({
      fieldViolations: expect.arrayContaining([
        expect.objectContaining({ field: expect.any(String) }),
      ]),
    });
    const away = await call("ExperimentService", "PauseExperiment", { experiment: "1" });
    expect(detailsOf(away).details[2]).toMatchObject({ retryDelay: { seconds: 1n } });
    const keys = Array.from({ length: 500 }, (_, n) => `${"k".repeat(300)}${n}: 1`).join("\n");
    const long = await call("ExperimentService", "CreateExperiment", { config: keys });
    expect(JSON.stringify(long.metadata).length).toBeLessThan(8_192);
  });
});
