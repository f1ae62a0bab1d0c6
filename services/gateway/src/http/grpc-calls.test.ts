import { PassThrough } from "node:stream";
import { allRights } from "@trainyard/access";
import { gatewayRoutes } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { Costs } from "./costs.ts";
import { type GrpcDeps, handlerOfCall } from "./grpc-calls.ts";
import { OpenChecks } from "./open-checks.ts";
import { MessageReader } from "./message-reader.ts";

test("a download whose client left before the store answered ends, though the store sends nothing", async () => {
  const body = new PassThrough();
  const left = new AbortController();
  const answer = { body, contentType: "application/gzip", fileName: "code.tar.gz" };
  const deps = {
    messages: new MessageReader(),
    proxies: { clientOf: () => "127.0.0.1" },
    costs: new Costs(),
    guard: { require: async () => allRights("ada"), requireStill: async () => {} },
    checks: new OpenChecks({ clock: systemClock, logger: createLogger("gateway", "silent") }),
    handlers: {
      raw: {
        downloadExperimentCode: async () => {
          left.abort();
          return answer;
        },
      },
    },
  } as unknown as GrpcDeps;
  const route = gatewayRoutes().find(({ call }) => call === "downloadExperimentCode");
  assert(route !== undefined, "code is downloaded");
  const pieces = handlerOfCall(route, deps)(new Uint8Array(), {
    caller: { kind: "user", run: null, token: "1" },
    signal: left.signal,
    metadata: () => undefined,
    setHeader: () => {},
    reading: (read: () => Promise<unknown>) => read(),
  } as never) as AsyncIterable<object>;
  await expect(pieces[Symbol.asyncIterator]().next()).rejects.toThrow("Premature close");
  expect(body.destroyed).toBe(true);
});
