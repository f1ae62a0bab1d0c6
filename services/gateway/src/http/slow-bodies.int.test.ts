/** Requests whose bodies never arrive. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const run = "1.1#1";

/** Announces the largest body of a run's call, and sends none of it. */
async function announced(gateway: TestGateway): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    [
      `POST /api/v1/runs/${encodeURIComponent(run)}/environment HTTP/1.1`,
      "host: gateway",
      "content-type: application/json",
      `authorization: Bearer ${gateway.runToken(run, 1)}`,
      `content-length: ${gatewayLimits.bodyBytesMax}`,
      "\r\n",
    ].join("\r\n"),
  );
  return socket;
}

test("a run that announces large bodies and sends none keeps no user from submitting code", async () => {
  await using gateway = await startTestGateway();
  const count = Math.floor(gatewayLimits.largeBodiesBytesMax / gatewayLimits.bodyBytesMax);
  const sockets = await Promise.all(Array.from({ length: count }, () => announced(gateway)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const context = Buffer.alloc(1_500_000).toString("base64");
  const { status, body } = await gateway.call("POST", "/api/v1/experiments", {
    body: { config: "name: x", context, validateOnly: true },
  });
  for (const socket of sockets) socket.destroy();
  // Zeros are no archive.
  expect([status, body["code"]]).not.toEqual([503, "busy"]);
});
