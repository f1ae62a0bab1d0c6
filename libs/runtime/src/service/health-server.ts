import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "@trainyard/kernel/http";
import type { Registry } from "./telemetry.ts";

export type HttpAddress = { readonly host: string; readonly port: number };

/** A listening server; disposing of it closes it. */
export type Listening = AsyncDisposable & {
  /** The address, as http://host:port. */
  readonly address: string;
};

export type HealthChecks = {
  /** Returns null when ready, otherwise the reason. */
  readonly readiness: () => string | null;
  /**
   * Returns whether the replica is ready but serves no commands, because its term has not begun: /readyz shows it in
   * its body.
   */
  readonly isStandby?: () => boolean;
};

/** Serves /livez, /readyz and /metrics. */
export function startHealthServer(
  address: HttpAddress,
  checks: HealthChecks,
  registry: Registry,
): Promise<Listening> {
  const server = createServer((request, response) => {
    void answerHealth(request.url ?? "/", response, checks, registry);
  });
  return listenHttp(server, address);
}

/** Starts to listen; rejects if the address is in use. */
export async function listenHttp(server: Server, { host, port }: HttpAddress): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  const name = host.includes(":") ? `[${host}]` : host;
  return { address: `http://${name}:${bound}`, [Symbol.asyncDispose]: () => close(server) };
}

export const healthPaths: readonly string[] = ["/livez", "/readyz", "/metrics"];

/** Answers the health paths; returns false for other paths. For services with another HTTP server. */
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
    const ready = checks.isStandby?.() === true ? "standby" : "ok";
    return respond(response, reason === null ? 200 : 503, `${reason ?? ready}\n`);
  }
  if (path === "/metrics") {
    // A metric that throws fails only this answer, not the process.
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

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
