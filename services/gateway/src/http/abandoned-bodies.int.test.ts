/** Requests whose clients leave as soon as their body was sent. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const run = "1.1#1";
const body = Buffer.from(`{"packages":[${"1234,".repeat(1_600_000)}1]}`);
const fitting = Math.floor(gatewayLimits.largeBodiesBytesMax / body.length);
const left = 24;

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
      `content-length: ${body.length}`,
      "\r\n",
    ].join("\r\n"),
  );
  return socket;
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function sendAndLeave(gateway: TestGateway): Promise<void> {
  const socket = await announced(gateway);
  await new Promise((resolve) => socket.write(body, resolve));
  await rest(200);
  socket.destroy();
}

test("bodies whose clients have left count while they wait to be parsed", async () => {
  await using gateway = await startTestGateway();
  await Promise.all(Array.from({ length: left }, () => sendAndLeave(gateway)));
  const answers: string[] = [];
  const sockets = await Promise.all(
    Array.from({ length: fitting - 4 }, async () => {
      const socket = await announced(gateway);
      return socket.on("data", (data: Buffer) => answers.push(data.toString("latin1", 0, 12)));
    }),
  );
  await rest(500);
  for (const socket of sockets) socket.destroy();
  expect(answers).toContain("HTTP/1.1 503");
}, 60_000);
