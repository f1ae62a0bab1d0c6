/** Requests whose clients leave as soon as their body was sent. */
import { expect, test } from "vitest";
import { announcedBody } from "../testing/announced-body.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { httpLimits } from "./limits.ts";

const body = Buffer.from(`{"packages":[${"1234,".repeat(1_600_000)}1]}`);
const fitting = Math.floor(httpLimits.largeBodiesBytesMax / body.length);
const left = 24;

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function sendAndLeave(gateway: TestGateway): Promise<void> {
  const socket = await announcedBody(gateway, body.length);
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
      const socket = await announcedBody(gateway, body.length);
      return socket.on("data", (data: Buffer) => answers.push(data.toString("latin1", 0, 12)));
    }),
  );
  await rest(500);
  for (const socket of sockets) socket.destroy();
  expect(answers).toContain("HTTP/1.1 503");
}, 60_000);
