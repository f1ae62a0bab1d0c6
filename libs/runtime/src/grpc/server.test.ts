import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { ReportService, WriteReportsRequestSchema } from "@trainyard/contracts/api";
import { Fault } from "@trainyard/kernel";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BodyBudget, HeldBody } from "../service/body-budget.ts";
import { createRegistry, type Registry } from "../service/telemetry.ts";
import { GrpcClient } from "./client.ts";
import { grpcService } from "./service.ts";
import { startGrpcServer } from "./server.ts";

type Caller = { readonly name: string };

let stack: AsyncDisposableStack;
let address = "";
let raw: Client;
let draining: AbortController;
let unready: string | null;
let handled: readonly string[];
let room: { left: number };
let bodies: BodyBudget;
let sent = 0;
let registry: Registry;

const problem = (status: number, code: string) => Object.assign(new Error("no"), { status, code });

const service = grpcService<typeof ReportService, Caller>(ReportService, {
  writeReports: async ({ run }, { caller }) => {
    handled = [...handled, `${caller.name} ${run}`];
    if (run === "none") throw problem(404, "run_not_found");
    if (run === "large") {
      return { accepted: 1, refused: [{ key: "x".repeat(4_000_000), reason: "" }] };
    }
    return { accepted: 1, refused: [] };
  },
  streamReports: async function* (requests) {
    for await (const { batch } of requests) {
      // Sends without end, more than all buffers can take.
      for (let n = 0; batch === 77; n += 1) {
        sent = n;
        yield {
          batch,
          accepted: n,
          refused: [{ key: "x".repeat(50_000), reason: "" }],
          superseded: 0,
        };
      }
      if (batch === 13) throw new Fault("away", "away", { retry: "now" });
      yield { batch, accepted: 0, refused: [], superseded: 0 };
    }
  },
});

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  draining = new AbortController();
  [unready, handled] = [null, []];
  const own = { left: 2 };
  room = own;
  bodies = new BodyBudget({ smallBytes: 1_000, smallBytesMax: 2_000, bytesMax: 20_000 });
  registry = createRegistry("example");
  const server = stack.use(
    await startGrpcServer<Caller>(
      {
        services: [service],
        admit: async (method, { authorization }) => {
          if (!authorization) throw problem(401, "no_token");
          return { name: `${method} by ${authorization}` };
        },
        enter: () => {
          if (own.left === 0) throw problem(503, "busy");
          own.left -= 1;
          return new HeldBody(() => void (own.left += 1));
        },
        problemOf: (error) =>
          error instanceof Fault
            ? { status: 503, code: error.code, message: error.message }
            : (error as Error & { status: number; code: string }),
        readiness: () => unready,
        draining: draining.signal,
        registry,
        bodies,
        nameOf: ({ name }) => name,
        messageBytesMax: 10_000,
        slowMs: 300,
        stalledMs: 1_500,
        requestMs: 1_000,
        idleMs: 2_500,
      },
      { host: "127.0.0.1", port: 0 },
    ),
  );
  ({ address } = server);
  raw = new Client(address.replace("http://", ""), credentials.createInsecure());
  stack.defer(() => raw.close());
});

afterEach(() => stack.disposeAsync());

const { writeReports, streamReports } = ReportService.method;

const client = (token = "t"): GrpcClient => stack.use(new GrpcClient(address, token));

const whole = (bytes: Buffer): Buffer => bytes;

function health(name = ""): Promise<readonly number[]> {
  const text = Buffer.from(name);
  const asked = Buffer.concat([Buffer.from([0x0a, text.length]), text]);
  return new Promise((resolve, reject) => {
    raw.makeUnaryRequest("/grpc.health.v1.Health/Check", whole, whole, asked, (error, reply) =>
      error === null ? resolve([...(reply ?? [])]) : reject(error),
    );
  });
}

test("a call is admitted by its method and token before its handler runs", async () => {
  await client().call(writeReports, { run: "1.1#1" });
  expect(handled).toEqual(["writeReports by Bearer t 1.1#1"]);
  const failed = client("").call(writeReports, { run: "1.1#1" });
  await expect(failed).rejects.toMatchObject({ code: 16 });
  expect(handled).toHaveLength(1);
});

test("a failure has the gRPC status for its HTTP status, and its code as metadata", async () => {
  const error = await client()
    .call(writeReports, { run: "none" })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 5, details: "no" });
  const { metadata } = error as { readonly metadata: { get(name: string): unknown } };
  expect(metadata.get("trainyard-code")).toEqual(["run_not_found"]);
});

test("a message beyond the limit is refused, and so is a method without a handler", async () => {
  const large = client().call(writeReports, { run: "x".repeat(20_000) });
  await expect(large).rejects.toMatchObject({ code: 8 });
  const other = client().call({ ...writeReports, name: "Other" }, {});
  await expect(other).rejects.toMatchObject({ code: 12 });
  expect(handled).toEqual([]);
});

test("a stream sends while it is open, even after the other side has ended, and can fail with a status", async () => {
  const stream = client().exchange(streamReports);
  const batches: number[] = [];
  stream.on("data", ({ batch }) => batches.push(batch));
  stream.write({ batch: 1 });
  await vi.waitFor(() => expect(batches).toEqual([1]), { timeout: 90_000 });
  stream.write({ batch: 2 });
  stream.end();
  await once(stream, "end");
  expect(batches).toEqual([1, 2]);
  const failing = client().exchange(streamReports);
  failing.resume().write({ batch: 13 });
  const [error] = await once(failing, "error").catch((thrown: unknown) => [thrown]);
  expect(error).toMatchObject({ code: 14, details: "away" });
});

test("a client that does not read its messages is cut off, and gets the messages before and the reason", async () => {
  const stream = client().exchange(streamReports);
  stream.write({ batch: 77 });
  await once(stream, "readable");
  await vi.waitFor(
    async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(sent).toBe(before);
    },
    { timeout: 90_000 },
  );
  const numbers: number[] = [];
  stream.on("data", ({ accepted }) => numbers.push(accepted));
  const [error] = await once(stream, "error").catch((thrown: unknown) => [thrown]);
  expect(error).toMatchObject({ code: 14 });
  expect(String(error)).toContain("left messages unread");
  expect(numbers).toEqual(Array.from({ length: sent + 1 }, (_, n) => n));
});

test("a draining server ends its streams and reports it in its health", async () => {
  expect(await health()).toEqual([0x08, 1]);
  const stream = client().exchange(streamReports);
  const first = once(stream, "data");
  stream.write({ batch: 1 });
  await first;
  const ended = new Promise((resolve) => stream.on("error", resolve));
  draining.abort();
  stream.resume().write({ batch: 2 });
  expect(await ended).toMatchObject({ code: 14 });
  expect(await health("trainyard.api.v1.ReportService")).toEqual([0x08, 2]);
});

test("health equals the readiness of the service and needs no token", async () => {
  expect(await health("trainyard.api.v1.ReportService")).toEqual([0x08, 1]);
  unready = "behind the log";
  await vi.waitFor(async () => expect(await health()).toEqual([0x08, 2]), { timeout: 90_000 });
});

test("reflection lists the services and returns their files, and needs no token", async () => {
  const ask = async (request: Buffer): Promise<string> => {
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const stream = raw.makeBidiStreamRequest(path, whole, whole);
    const answer = once(stream, "data");
    stream.write(request);
    const [bytes] = (await answer) as [Buffer];
    stream.end();
    await once(stream.resume(), "end");
    return bytes.toString("latin1");
  };
  const name = Buffer.from("trainyard.api.v1.ReportService");
  // The bytes encode list_services = 7 and file_containing_symbol = 4.
  expect(await ask(Buffer.from([0x3a, 0]))).toContain(name.toString());
  const file = await ask(Buffer.concat([Buffer.from([0x22, name.length]), name]));
  expect(file).toContain("StreamReportsRequest");
});

/** Begins a call, and returns its stream. */
function openSession(): ClientHttp2Session {
  const session = stack.adopt(connect(address), (open) => open.destroy());
  return session.on("error", () => {});
}

function begin(path: string, authorization = "t", session = openSession()): ClientHttp2Stream {
  const call = session.request({
    ...{ ":method": "POST", ":path": path },
    ...{ "content-type": "application/grpc", te: "trailers", authorization },
  });
  call.on("error", () => {});
  return call;
}

/** The first bytes of a message of some size. */
function headOf(bytes: number, isCompressed = false): Buffer {
  const head = Buffer.from([isCompressed ? 1 : 0, 0, 0, 0, 0, 1]);
  head.writeUInt32BE(bytes, 1);
  return head;
}

async function endOf(call: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const [answer] = (await once(call, "response")) as [IncomingHttpHeaders];
  return answer;
}

/** Begins calls with one message of which only the first bytes come, and returns their ends. */
function unfinished(path: string, count: number): readonly Promise<IncomingHttpHeaders>[] {
  return Array.from({ length: count }, async () => {
    const call = begin(path);
    call.write(headOf(256));
    return endOf(call);
  });
}

test("a call is counted before its message is complete, until the message is late", async () => {
  const path = "/trainyard.api.v1.ReportService/WriteReports";
  const ends = (await Promise.all(unfinished(path, 3))).map((end) => end["trainyard-code"]);
  expect(ends.toSorted()).toEqual(["busy", "request_too_slow", "request_too_slow"]);
  await client().call(writeReports, { run: "1.1#1" });
  expect(handled).toHaveLength(1);
  await vi.waitFor(() => expect(room.left).toBe(2), { timeout: 90_000 });
});

test("a stream is counted until it ends or its client is gone, however long it takes", async () => {
  const streams = [client().exchange(streamReports), client().exchange(streamReports)];
  for (const stream of streams) {
    const first = once(stream, "data");
    stream.on("error", () => {}).write({ batch: 1 });
    await first;
  }
  await expect(client().call(writeReports, { run: "1.1#1" })).rejects.toMatchObject({ code: 14 });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(room.left).toBe(0);
  streams[0]?.end();
  streams[1]?.cancel();
  await vi.waitFor(() => expect(room.left).toBe(2), { timeout: 90_000 });
});

test("the message of a call without a token must arrive in time", async () => {
  const [end] = await Promise.all(unfinished("/grpc.health.v1.Health/Check", 1));
  expect(end?.["trainyard-code"]).toBe("request_too_slow");
});

test("calls with one answer are timed by method and code, refused ones too, and streams are not", async () => {
  await client().call(writeReports, { run: "1.1#1" });
  await client("")
    .call(writeReports, { run: "1.1#1" })
    .catch(() => {});
  const stream = client().exchange(streamReports);
  stream.end();
  stream.resume();
  await once(stream, "end");
  const counted = (await registry.metrics())
    .split("\n")
    .filter((line) => line.startsWith("trainyard_grpc_request_seconds_count"));
  const call = "trainyard.api.v1.ReportService/WriteReports";
  expect(counted.toSorted()).toEqual([
    `trainyard_grpc_request_seconds_count{service="example",method="${call}",code="ok"} 1`,
    `trainyard_grpc_request_seconds_count{service="example",method="${call}",code="unauthenticated"} 1`,
  ]);
});

test("an answer that its client does not read ends, while other calls of the connection go on", async () => {
  const session = openSession();
  const ask = (run: string): ClientHttp2Stream => {
    const request = toBinary(WriteReportsRequestSchema, create(WriteReportsRequestSchema, { run }));
    const call = begin("/trainyard.api.v1.ReportService/WriteReports", "t", session);
    return call.end(Buffer.concat([headOf(request.length).subarray(0, 5), request]));
  };
  const unread = ask("large");
  await once(unread, "response");
  for (const beganMs = performance.now(); !unread.closed; ) {
    await once(ask("1.1#1").resume(), "end");
    expect(performance.now() - beganMs).toBeLessThan(90_000);
  }
  expect(unread.rstCode).toBe(constants.NGHTTP2_CANCEL);
});

const reportStream = "/trainyard.api.v1.ReportService/StreamReports";

test("an unfinished message of a stream counts from its first bytes until it is late", async () => {
  const call = begin(reportStream);
  call.write(headOf(9_000));
  await vi.waitFor(() => expect(bodies.heldBytes).toBe(9_000), { timeout: 90_000 });
  expect((await endOf(call))["trainyard-code"]).toBe("request_too_slow");
  await vi.waitFor(() => expect(bodies.heldBytes).toBe(0), { timeout: 90_000 });
});

test("a compressed message counts as the largest", async () => {
  begin(reportStream).write(headOf(10, true));
  await vi.waitFor(() => expect(bodies.heldBytes).toBe(10_000), { timeout: 90_000 });
});

test("messages that nobody has taken count, and their memory goes to another caller that has none", async () => {
  room.left = 4;
  const [one, two, other] = [begin(reportStream), begin(reportStream), begin(reportStream, "u")];
  one.write(headOf(9_000));
  await vi.waitFor(() => expect(bodies.heldBytes).toBe(9_000), { timeout: 90_000 });
  two.write(headOf(9_000));
  await vi.waitFor(() => expect(bodies.heldBytes).toBe(18_000), { timeout: 90_000 });
  const third = begin(reportStream);
  third.write(headOf(9_000));
  expect((await endOf(third))["trainyard-code"]).toBe("busy");
  const cut = new Promise((resolve) => two.once("close", resolve));
  other.write(headOf(9_000));
  await cut;
  expect(two.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect([one.closed, bodies.heldBytes]).toEqual([false, 18_000]);
  for (const call of [one, other]) call.close();
  await vi.waitFor(() => expect([room.left, bodies.heldBytes]).toEqual([4, 0]), {
    timeout: 90_000,
  });
});

test("a stream without messages ends, and gives its place back", async () => {
  const stream = client().exchange(streamReports);
  const first = once(stream, "data");
  const ended = once(stream, "error").catch((thrown: unknown) => [thrown]);
  stream.write({ batch: 1 });
  await first;
  expect(room.left).toBe(1);
  const [error] = await ended;
  expect(error).toMatchObject({ code: 14 });
  expect(String(error)).toContain("open the stream again");
  expect([room.left, bodies.heldBytes]).toEqual([2, 0]);
});

test("a call without a token makes the server hold no message", async () => {
  const reflect = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  for (const path of [reflect, "/grpc.health.v1.Health/Check"]) {
    const call = begin(path);
    call.write(headOf(5_000));
    expect((await endOf(call))["trainyard-code"]).toBe("body_too_large");
  }
  const refused = begin(reportStream, "");
  refused.write(headOf(9_000));
  expect((await endOf(refused))["trainyard-code"]).toBe("no_token");
  expect(bodies.heldBytes).toBe(0);
  // The stream is closed, though its client leaves it open.
  await vi.waitFor(() => expect(refused.closed).toBe(true), { timeout: 90_000 });
});

test("an ended call leaves no timer", async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  await client().call(writeReports, { run: "1.1#1" });
  const before = timers();
  for (let call = 0; call < 10; call += 1) {
    await client("")
      .call(writeReports, { run: "1.1#1" })
      .catch(() => {});
  }
  await vi.waitFor(() => expect(timers()).toBeLessThan(before + 10), { timeout: 200 });
});
