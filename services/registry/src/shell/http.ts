/** The HTTP interface: model code for agents at signed addresses, and the health of this process. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { BlobStore } from "@trainyard/blob";
import type { Clock } from "@trainyard/kernel";
import { createServer } from "@trainyard/kernel/http";
import {
  answerHealth,
  type HealthChecks,
  type HttpAddress,
  type Listening,
  listenHttp,
  type Registry,
} from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { readContextPath } from "./signed-urls.ts";

export type HttpDeps = {
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly urlKey: Buffer;
  readonly events: Telemetry;
  readonly registry: Registry;
  readonly health: HealthChecks;
};

const refusals = {
  expired: "this address has expired: ask for a new one",
  forbidden: "the signature of this address is not genuine",
} as const;

export function startHttpServer(deps: HttpDeps, address: HttpAddress): Promise<Listening> {
  const server = createServer((request, response) => {
    answer(deps, request, response).catch((error: unknown) => {
      if (!request.destroyed) deps.events.requestFailed(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 503, "the code cannot be read now", { "retry-after": "1" });
    });
  });
  return listenHttp(server, address);
}

async function answer(
  deps: HttpDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? "/";
  const asked = readContextPath(deps.urlKey, url, deps.clock.nowMs());
  if (asked.kind === "elsewhere") {
    await answerHealth(url, response, deps.health, deps.registry);
    return;
  }
  if (asked.kind !== "granted") return refuse(response, 403, refusals[asked.kind]);
  if (request.method !== "GET") {
    return refuse(response, 405, "model code is only read here", { allow: "GET" });
  }
  const content = await deps.blobs.get(asked.key);
  if (content === null) return refuse(response, 404, "this model code is not stored any more");
  response.writeHead(200, {
    "content-type": "application/gzip",
    "content-length": content.bytes,
    etag: `"${asked.key}"`,
  });
  await pipeline(content.stream, response);
  deps.events.contextServed(content.bytes);
}

function refuse(
  response: ServerResponse,
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = { "content-type": "application/problem+json" };
  response.writeHead(status, { ...type, ...headers }).end(JSON.stringify({ status, detail }));
}
