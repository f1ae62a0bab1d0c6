import { createRegistry, fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { RetryInfoSchema, StatusSchema } from "@trainyard/contracts/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GrpcConnection } from "../testing/grpc-call.ts";
import { sendHead } from "../testing/streams.ts";
import { type CallAnswer, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const burst = 8;
const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let connection: GrpcConnection;

beforeAll(async () => {
  gateway = stack.use(
    await startTestGateway({
      TRAINYARD_RATE_USER: "1",
      TRAINYARD_RATE_RUN: "1",
      TRAINYARD_RATE_ADDRESS: "1",
      TRAINYARD_RATE_BURST: String(burst),
      TRAINYARD_TRUSTED_PROXIES: "127.0.0.0/8",
    }),
  );
  connection = stack.use(new GrpcConnection(gateway.grpcUrl));
});

afterAll(() => stack.disposeAsync());

/** Calls until a call is refused for its rate. Returns the refusal, and the calls before it. */
async function untilRefused<Answer>(
  call: () => Promise<Answer>,
  isRefused: (answer: Answer) => boolean,
): Promise<{ readonly answered: number; readonly refusal: Answer; readonly seconds: number }> {
  const began = performance.now();
  for (let answered = 0; ; answered += 1) {
    const answer = await call();
    const seconds = (performance.now() - began) / 1_000;
    if (isRefused(answer)) return { answered, refusal: answer, seconds };
    if (answered > burst + seconds + 1) throw new Error(`${answered} calls in ${seconds} s`);
  }
}

const isRefused = ({ status }: CallAnswer): boolean => status === 429;

const get = (token: string | null, address: string, path = "/api/v1/workspaces") =>
  gateway.call("GET", path, { token, headers: { "x-forwarded-for": address } });

const newToken = async (): Promise<string> => {
  const { body } = await gateway.call("POST", "/api/v1/tokens", { body: {} });
  return String(body["secret"]);
};

test("a caller beyond its rate is refused with the time to wait, over REST and gRPC alike", async () => {
  const token = await newToken();
  const first = await get(token, "203.0.113.1");
  expect(first.status).toBe(200);
  expect(first.headers.get("ratelimit-policy")).toBe(`"user";q=${burst};w=${burst}`);
  expect(first.headers.get("ratelimit")).toBe(`"user";r=${burst - 1};t=1`);
  const { answered, refusal } = await untilRefused(() => get(token, "203.0.113.1"), isRefused);
  expect(answered).toBeGreaterThanOrEqual(burst - 1);
  expect(refusal.body).toMatchObject({ status: 429, code: "rate_limited" });
  expect(refusal.headers.get("retry-after")).toBe("1");
  expect(refusal.headers.get("ratelimit")).toMatch(/^"user";r=0;t=[78]$/);
  const overGrpc = await untilRefused(
    () =>
      connection.call("/trainyard.api.v1.WorkspaceService/ListWorkspaces", {
        messages: [new Uint8Array()],
        headers: { authorization: `Bearer ${token}` },
      }),
    ({ code }) => code !== 0,
  );
  expect(overGrpc.answered).toBeLessThanOrEqual(1 + overGrpc.seconds);
  const { code, metadata } = overGrpc.refusal;
  expect({ code, reason: metadata["trainyard-code"] }).toEqual({ code: 8, reason: "rate_limited" });
  const details = Buffer.from(String(metadata["grpc-status-details-bin"]), "base64");
  const unpacked = fromBinary(StatusSchema, details).details.map((any) =>
    anyUnpack(any, createRegistry(RetryInfoSchema)),
  );
  expect(unpacked).toContainEqual(
    expect.objectContaining({ retryDelay: expect.objectContaining({ seconds: 1n }) }),
  );
});

test("a call beyond the rate is refused before its body is read", async () => {
  const headers = {
    authorization: `Bearer ${await newToken()}`,
    "content-type": "application/json",
  };
  const announced = { ...headers, "content-length": 1_000 };
  const { refusal } = await untilRefused(
    async () => {
      // A body that never comes: only a refusal answers.
      const { answer, hangUp } = sendHead(`${gateway.url}/api/v1/experiments`, announced);
      const patience = new Promise<null>((resolve) => setTimeout(resolve, 20, null));
      const status = (await Promise.race([answer, patience]))?.statusCode ?? null;
      hangUp();
      return status;
    },
    (status) => status !== null,
  );
  expect(refusal).toBe(429);
});

test("a thousand runs behind one address are not limited together, nor by others there without a valid token", async () => {
  const address = "203.0.113.7";
  await untilRefused(() => get(null, address), isRefused);
  const madeUp = await untilRefused(() => get(`ty_${"0".repeat(16)}_no`, address), isRefused);
  expect(madeUp.answered).toBeLessThanOrEqual(1 + madeUp.seconds);
  const tokens = await Promise.all(
    Array.from({ length: 1_000 }, (_, run) => gateway.runToken(`1.1#${run + 1}`)),
  );
  for (let from = 0; from < tokens.length; from += 100) {
    const some = tokens.slice(from, from + 100).map((token) => get(token, address));
    const statuses = new Set((await Promise.all(some)).map(({ status }) => status));
    // The call is not one for runs, which is decided after it was counted.
    expect(statuses).toEqual(new Set([403]));
  }
  const [token = ""] = tokens;
  expect((await untilRefused(() => get(token, address), isRefused)).answered).toBeLessThan(
    burst + 1_000,
  );
});

test("requests without a valid token are counted by the address that a trusted proxy names", async () => {
  const path = "/api/v1/version";
  await untilRefused(() => get(null, "203.0.113.8", path), isRefused);
  expect((await get(null, "203.0.113.9", path)).status).toBe(200);
  expect((await get(null, "203.0.113.9, 203.0.113.8", path)).status).toBe(429);
});
