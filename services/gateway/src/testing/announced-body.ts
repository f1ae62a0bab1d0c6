import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestGateway } from "./test-gateway.ts";

const run = "1.1#1";

/** Announces a body of `bytes` of a run's call, and sends none of it. */
export async function announcedBody(gateway: TestGateway, bytes: number): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    [
      `POST /api/v1/runs/${encodeURIComponent(run)}/environment HTTP/1.1`,
      "host: gateway",
      "content-type: application/json",
      `authorization: Bearer ${await gateway.runToken(run)}`,
      `content-length: ${bytes}`,
      "\r\n",
    ].join("\r\n"),
  );
  return socket;
}
