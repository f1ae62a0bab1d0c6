import {
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { codecOf } from "@trainyard/contracts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
  StatusSchema,
} from "@trainyard/contracts/errors";
import { gatewayRoutes, pathOf, type Route } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import { grpcCodeOf } from "@trainyard/runtime/grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { type GrpcAnswer, GrpcConnection } from "../testing/grpc-call.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { notOverGrpc } from "./grpc.ts";
import { httpLimits } from "./limits.ts";

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let connection: GrpcConnection;
/** A token that was revoked. */
let revoked = "";

/** The times after which an open stream without a message is left: the second one, if the answers differ. */
const quietMs = [500, 20_000] as const;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  connection = stack.use(new GrpcConnection(gateway.grpcUrl));
  await gateway.append("experiment-1", created({}));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  const { body } = await gateway.call("POST", "/api/v1/tokens", { body: {} });
  revoked = String(body["secret"]);
  await gateway.call("DELETE", `/api/v1/tokens/${(body["token"] as { id: string }).id}`);
});

afterAll(() => stack.disposeAsync());

/** The calls over gRPC, each with its first route. */
const routes: readonly Route[] = [
  ...new Map(
    gatewayRoutes()
      .toReversed()
      .map((route) => [route.call, route] as const),
  ).values(),
]
  .filter(({ call }) => !(call in notOverGrpc))
  .toReversed();

type Fields = Readonly<Record<string, unknown>>;

/** The answer of a call in a form that both protocols have. */
type Seen = { readonly status: number; readonly code: string; readonly answer: unknown };

const methodOf = ({ service, name }: Route): string => `/trainyard.api.v1.${service}/${name}`;

const bearer = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

const bytesOf = (desc: DescMessage, fields: Fields): Uint8Array =>
  toBinary(desc, fromJson(desc, fields as never));

async function overGrpc(
  route: Route,
  fields: Fields,
  token: string | null,
  untilMs: number,
): Promise<Seen> {
  const answer = await connection.call(methodOf(route), {
    messages: [bytesOf(route.request, fields)],
    headers: bearer(token),
    ...(route.kind === "stream" ? { enough: ({ length }) => length > 0, untilMs } : {}),
  });
  return seenOf(route, answer);
}

function seenOf({ kind, reply }: Route, { code, messages, metadata, message }: GrpcAnswer): Seen {
  if (code !== null && code !== 0) {
    return { status: code, code: String(metadata["trainyard-code"]), answer: message };
  }
  const whole = messages.map((bytes) =>
    codecOf<object>(reply).toFullJson(fromBinary(reply, bytes)),
  );
  if (kind !== "raw") return { status: 0, code: "", answer: whole[0] ?? null };
  const data = whole.map((one) => Buffer.from(String(one["data"]), "base64"));
  return {
    status: 0,
    code: "",
    answer: [whole[0]?.["contentType"], Buffer.concat(data).toString("hex")],
  };
}

async function overRest(
  route: Route,
  fields: Fields,
  token: string | null,
  untilMs: number,
): Promise<Seen> {
  const rest = Object.entries(fields).filter(([name]) => !route.pathFields.includes(name));
  const body = route.hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined;
  const query = route.hasBody || rest.length === 0 ? "" : `?${new URLSearchParams(rest as never)}`;
  const leave = new AbortController();
  const answer = await fetch(`${gateway.url}${pathOf(route, fields)}${query}`, {
    method: route.method,
    headers: {
      ...bearer(token),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
    signal: leave.signal,
  });
  if (answer.status >= 400) {
    const { code, detail } = (await answer.json()) as { code: string; detail: string };
    return { status: grpcCodeOf(answer.status), code, answer: detail };
  }
  if (route.kind === "unary") return { status: 0, code: "", answer: await answer.json() };
  if (route.kind === "stream") return firstOf(answer, leave, untilMs);
  const type = answer.headers.get("content-type");
  return {
    status: 0,
    code: "",
    answer: [type, Buffer.from(await answer.arrayBuffer()).toString("hex")],
  };
}

/** Returns the first message of a stream of server-sent events, or its problem. */
async function firstOf(answer: Response, leave: AbortController, untilMs: number): Promise<Seen> {
  const timer = setTimeout(() => leave.abort(), untilMs);
  let text = "";
  try {
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/^data: .*\n\n/m.test(text)) break;
    }
  } catch {}
  clearTimeout(timer);
  leave.abort();
  const [, event, data = "null"] = /^(?:event: (\w+)\n)?data: (.*)$/m.exec(text) ?? [];
  const json = JSON.parse(data) as { status: number; code: string; detail: string };
  if (event === "problem")
    return { status: grpcCodeOf(json.status), code: json.code, answer: json.detail };
  return { status: 0, code: "", answer: event === "end" ? null : json };
}

const isRead = ({ method, facts, kind }: Route): boolean =>
  method === "GET" || facts.postedRead || kind === "stream";

/** Returns an answer in which only the form of values that differ between two calls is left. */
function comparable(route: Route, { status, code, answer }: Seen): Seen {
  if (status === 0 && !isRead(route)) return { status, code, answer: Object.keys(answer ?? {}) };
  const text = JSON.stringify(answer).replaceAll(/\d{10,}(\.\d+)?/g, "1");
  return { status, code, answer: JSON.parse(text) };
}

/** Returns the calls that answer differently. Calls that change something are made after the reads, which they move. */
async function differing(
  input: (route: Route) => Fields,
  token: string | null,
): Promise<readonly unknown[]> {
  const compare = async (route: Route): Promise<readonly unknown[]> => {
    let differs: readonly unknown[] = [];
    for (const untilMs of quietMs) {
      const rest = comparable(route, await overRest(route, input(route), token, untilMs));
      const grpc = comparable(route, await overGrpc(route, input(route), token, untilMs));
      if (JSON.stringify(rest) === JSON.stringify(grpc)) return [];
      differs = [{ call: route.call, rest, grpc }];
      if (!isRead(route)) break;
    }
    return differs;
  };
  const [reads, changes] = [routes.filter(isRead), routes.filter((route) => !isRead(route))];
  const found = [
    ...(await inGroups(reads, 16, compare)),
    ...(await inGroups(changes, 16, compare)),
  ];
  return found.flat();
}

async function inGroups<Item, Result>(
  items: readonly Item[],
  size: number,
  task: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += size) {
    results.push(...(await Promise.all(items.slice(at, at + size).map(task))));
  }
  return results;
}

const known: Readonly<Record<string, string>> = { experiment: "1", other: "1", trial: "1.1" };

/** Returns an input with the fields of the path. */
const withPath =
  (ids: Readonly<Record<string, string>>) =>
  (route: Route): Fields =>
    Object.fromEntries(route.pathFields.map((name) => [name, ids[name] ?? "7"]));

describe("every call answers over gRPC as over REST", () => {
  test("about an experiment that exists", async () => {
    expect(await differing(withPath(known), gateway.token)).toEqual([]);
  });

  test("about what does not exist", async () => {
    expect(await differing(withPath({}), gateway.token)).toEqual([]);
  });

  test("without a token", async () => {
    expect(await differing(withPath(known), null)).toEqual([]);
  });

  test("with a revoked token", async () => {
    expect(await differing(withPath(known), revoked)).toEqual([]);
  });

  test("with the token of a run", async () => {
    expect(await differing(withPath(known), await gateway.runToken("1.1#1"))).toEqual([]);
  });
});

describe("a request that cannot be answered", () => {
  test("of a malformed message is refused as malformed JSON is over REST", async () => {
    const found = await inGroups(routes, 16, async (route) => {
      const answer = await connection.call(methodOf(route), {
        messages: [Buffer.from([0x0a, 0xff])],
        headers: bearer(gateway.token),
      });
      const { code, answer: detail } = seenOf(route, answer);
      return { code, isNamed: String(detail).includes(route.request.typeName) };
    });
    expect(new Set(found.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ code: "invalid_request", isNamed: true })]),
    );
  });

  test("beyond the size is refused by its head, with the code that it has over REST", async () => {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(httpLimits.bodyBytesMax + 1, 1);
    const codes = await inGroups(routes, 16, async (route) => {
      const sent = { bytes: head, headers: bearer(gateway.token), untilMs: 20_000 };
      const { code, metadata } = await connection.call(methodOf(route), sent);
      return `${code} ${metadata["trainyard-code"]}`;
    });
    expect(new Set(codes)).toEqual(new Set([`${grpcCodeOf(413)} body_too_large`]));
    const body = { label: "x".repeat(httpLimits.bodyBytesMax) };
    const rest = await gateway.call("POST", "/api/v1/tokens", { body });
    expect(rest).toMatchObject({ status: 413, body: { code: "body_too_large" } });
  });

  test("after its deadline ends with the status for it, and its work is given up", async () => {
    // The message never comes, so that no call is answered before.
    const codes = await inGroups(routes, 16, async (route) => {
      const headers = { ...bearer(gateway.token), "grpc-timeout": "20m" };
      const { code } = await connection.call(methodOf(route), { bytes: Buffer.alloc(4), headers });
      return code;
    });
    expect(new Set(codes)).toEqual(new Set([4]));
    const followed = await connection.call("/trainyard.api.v1.EventService/WatchEvents", {
      messages: [new Uint8Array()],
      headers: { ...bearer(gateway.token), "grpc-timeout": "300m" },
    });
    expect(followed.code).toBe(4);
  });

  test("of a method for browsers is unimplemented", async () => {
    for (const name of ["CreateSession", "DeleteCurrentSession"]) {
      const path = `/trainyard.api.v1.SessionService/${name}`;
      expect((await connection.call(path, { messages: [new Uint8Array()] })).code).toBe(12);
    }
    const served = gatewayRoutes().filter(
      ({ service, name }) => service === "SessionService" && !name.endsWith("Session"),
    );
    expect(Object.keys(notOverGrpc)).toEqual(["createSession", "deleteCurrentSession"]);
    expect(served.length).toBeGreaterThan(0);
  });
});

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
  });
});
