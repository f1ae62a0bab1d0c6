/** The time and memory of requests over gRPC that have many messages, or that a handler decodes itself. */
import { once } from "node:events";
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { EventService, UploadService } from "@trainyard/contracts/api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { BodyBudget, HeldBody } from "../service/body-budget.ts";
import { createRegistry } from "../service/telemetry.ts";
import { startGrpcServer } from "./server.ts";
import { encodedGrpcService } from "./service.ts";

const stack = new AsyncDisposableStack();
const bodies = new BodyBudget({ smallBytes: 1_000, smallBytesMax: 2_000, bytesMax: 20_000 });
const decoded = Promise.withResolvers<void>();
let address = "";
let asked = 0;
let open = 0;

const events = encodedGrpcService<string>(EventService, ({ localName }) =>
  localName === "watchEvents"
    ? async function* (_bytes, { reading, signal }) {
        asked += 1;
        await reading(() => decoded.promise);
        yield {};
        await once(signal, "abort");
      }
    : null,
);

const uploads = encodedGrpcService<string>(UploadService, () => async (pieces) => {
  for await (const _piece of pieces as AsyncIterable<object>);
  return {};
});

beforeAll(async () => {
  const server = await startGrpcServer<string>(
    {
      services: [events, uploads],
      admit: async () => "ada",
      enter: () => {
        open += 1;
        return new HeldBody(() => void (open -= 1));
      },
      problemOf: (error) => error as Error & { status: number; code: string },
      readiness: () => null,
      draining: new AbortController().signal,
      registry: createRegistry("example"),
      bodies,
      nameOf: (caller) => caller,
      messageBytesMax: 10_000,
      slowMs: 300,
      requestMs: 1_000,
      idleMs: 2_500,
    },
    { host: "127.0.0.1", port: 0 },
  );
  ({ address } = stack.use(server));
});

afterAll(() => stack.disposeAsync());

function begin(path: string): ClientHttp2Stream {
  const session = connect(address);
  stack.defer(() => session.destroy());
  session.on("error", () => {});
  const call = session.request({
    ...{ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
  });
  return call.on("error", () => {});
}

/** Returns a message of some size. */
function message(bytes: number): Buffer {
  const whole = Buffer.alloc(5 + bytes);
  whole.writeUInt32BE(bytes, 1);
  return whole;
}

test("the request of a stream of answers counts until it is decoded, and not while the stream lasts", async () => {
  const call = begin("/trainyard.api.v1.EventService/WatchEvents");
  call.end(message(5_000));
  await vi.waitFor(() => expect(asked).toBe(1), { timeout: 90_000 });
  await new Promise(setImmediate);
  expect(bodies.heldBytes).toBe(5_000);
  decoded.resolve();
  await once(call, "data");
  expect([bodies.heldBytes, open]).toEqual([0, 1]);
  call.close();
  await vi.waitFor(() => expect(open).toBe(0), { timeout: 90_000 });
});

test("all messages of an upload arrive in the time of one request, however small they are", async () => {
  const call = begin("/trainyard.api.v1.UploadService/CreateExperimentWithCode");
  const sending = setInterval(() => call.write(message(0)), 200);
  const [end] = (await once(call, "response")) as [IncomingHttpHeaders];
  clearInterval(sending);
  expect(end["trainyard-code"]).toBe("request_too_slow");
  await vi.waitFor(() => expect([bodies.heldBytes, open]).toEqual([0, 0]), { timeout: 90_000 });
});
