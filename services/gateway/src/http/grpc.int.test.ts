import { fromBinary } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import { Cost, gatewayRoutes, pathOf, type Route } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import { grpcCodeOf } from "@trainyard/runtime/grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { bearer, bytesOf, type Fields, methodOf, routes } from "../testing/grpc-routes.ts";
import { type GrpcAnswer, GrpcConnection } from "../testing/grpc-call.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { costRows } from "./costs.ts";
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

/** The answer of a call in a form that both protocols have. */
type Seen = { readonly status: number; readonly code: string; readonly answer: unknown };

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
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  }
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

  test("with the fields that the request asks for", async () => {
    const list = routes.find(({ name }) => name === "ListExperiments");
    assert(list !== undefined, "ListExperiments is served");
    const both = (fields: Fields) =>
      Promise.all([overRest, overGrpc].map((over) => over(list, fields, gateway.token, 0)));
    const [rest, grpc] = await both({ fields: ["name"] });
    expect(rest?.answer).toMatchObject({ items: [{ name: "example" }] });
    expect(grpc?.answer).toMatchObject({ items: [{ name: "example", id: "" }] });
    const [unknown, alike] = await both({ fields: ["nothing"] });
    expect(unknown?.code).toBe("invalid_request");
    expect(alike).toEqual(unknown);
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

  test("of too many values is refused while the other calls are answered, and a large one is answered", async () => {
    const watch = routes.find(({ name }) => name === "Watch");
    assert(watch !== undefined, "Watch is served");
    const list = watch.request.fields.find(
      ({ fieldKind, message }) => fieldKind === "list" && message,
    );
    assert(list !== undefined, "Watch has a list of messages");
    const empty = Buffer.from([list.number * 8 + 2, 0]);
    const many = Buffer.alloc(httpLimits.bodyBytesMax / 2, empty);
    const refused = connection.call(methodOf(watch), {
      messages: [many],
      headers: bearer(gateway.token),
    });
    const from = performance.now();
    const slowest = await slowestWhile(refused);
    expect((await refused).metadata["trainyard-code"]).toBe("invalid_request");
    expect((await refused).message).toContain("values");
    // Without the thread, a call waits for all of it.
    expect(slowest).toBeLessThan((performance.now() - from) / 2);
    const large = { config: `name: ${"x".repeat(2 * httpLimits.largeBodyBytes)}` };
    const [route] = routes.filter(({ name }) => name === "CreateExperiment");
    assert(route !== undefined, "CreateExperiment is served");
    const [rest, grpc] = [overRest, overGrpc].map((over) => over(route, large, gateway.token, 0));
    expect(await grpc).toEqual(await rest);
  });

  test("after its deadline ends with the status for it, and its work is given up", async () => {
    // The message never comes, so that no call is answered before.
    const codes = await inGroups(routes, 16, async (route) => {
      const headers = { ...bearer(gateway.token), "grpc-timeout": "20m" };
      const { code } = await connection.call(methodOf(route), { bytes: Buffer.alloc(4), headers });
      return code;
    });
    expect(new Set(codes)).toEqual(new Set([4]));
    // More streams than a caller may have open at once.
    const row = costRows[Cost.STREAM];
    const most = row !== undefined && "open" in row ? row.open.ofOneMax : 0;
    const streams = Array.from({ length: most * 2 }, (_, n) => n);
    const ends = await inGroups(streams, most / 2, async () => {
      const headers = { ...bearer(gateway.token), "grpc-timeout": "100m" };
      const path = "/trainyard.api.v1.EventService/WatchEvents";
      return (await connection.call(path, { messages: [new Uint8Array()], headers })).code;
    });
    expect(ends).toHaveLength(most * 2);
    expect(new Set(ends)).toEqual(new Set([4]));
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

/** Returns the time of the slowest of short calls, in milliseconds, which are made until a call has ended. */
async function slowestWhile(ends: Promise<unknown>): Promise<number> {
  let isOver = false;
  let slowest = 0;
  void ends.then(() => (isOver = true));
  while (!isOver) {
    const from = performance.now();
    await gateway.call("GET", "/api/v1/version");
    slowest = Math.max(slowest, performance.now() - from);
  }
  return slowest;
}
