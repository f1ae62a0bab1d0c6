import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "./telemetry.ts";

export type HealthChecks = {
  /** Null when ready, else why not. */
  readonly readiness: () => string | null;
};

/** /livez, /readyz and /metrics on 127.0.0.1 unless told otherwise. Gives the port that it listens on. */
export async function startHealthServer(
  address: { readonly host: string; readonly port: number },
  checks: HealthChecks,
  registry: Registry,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    void answerHealth(request.url ?? "/", response, checks, registry);
  });
  await listen(server, address);
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => close(server),
  };
}

/** Answers the health paths; false when the path is another's. For services that have an HTTP server anyway. */
export async function answerHealth(
  url: string,
  response: ServerResponse<IncomingMessage>,
  checks: HealthChecks,
  registry: Registry,
): Promise<boolean> {
  const path = url.split("?")[0];
  if (path === "/livez") return respond(response, 200, "ok\n");
  if (path === "/readyz") {
    const reason = checks.readiness();
    return respond(response, reason === null ? 200 : 503, `${reason ?? "ok"}\n`);
  }
  if (path === "/metrics") {
    // A number that cannot be told ends this answer, never the process.
    const numbers = await registry.metrics().catch(() => null);
    if (numbers === null) return respond(response, 500, "the metrics cannot be collected\n");
    return respond(response, 200, numbers, registry.contentType);
  }
  respond(response, 404, "not found\n");
  return false;
}

function respond(
  response: ServerResponse<IncomingMessage>,
  status: number,
  body: string,
  type = "text/plain; charset=utf-8",
): true {
  response.writeHead(status, { "content-type": type }).end(body);
  return true;
}

function listen(server: Server, address: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
