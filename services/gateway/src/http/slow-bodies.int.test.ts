/** Requests whose bodies never arrive. */
import { expect, test } from "vitest";
import { announcedBody } from "../testing/announced-body.ts";
import { startTestGateway } from "../testing/test-gateway.ts";
import { httpLimits } from "./limits.ts";

test("a run that announces large bodies and sends none keeps no user from submitting code", async () => {
  await using gateway = await startTestGateway();
  const { bodyBytesMax, largeBodiesBytesMax } = httpLimits;
  const count = Math.floor(largeBodiesBytesMax / bodyBytesMax);
  const sockets = await Promise.all(
    Array.from({ length: count }, () => announcedBody(gateway, bodyBytesMax)),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  const context = Buffer.alloc(1_500_000).toString("base64");
  const { status, body } = await gateway.call("POST", "/api/v1/experiments", {
    body: { config: "name: x", context, validateOnly: true },
  });
  for (const socket of sockets) socket.destroy();
  // Zeros are no archive.
  expect([status, body["code"]]).not.toEqual([503, "busy"]);
});
