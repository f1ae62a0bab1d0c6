import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startTestGateway } from "../testing/test-gateway.ts";

test("the first token is issued once; a later start keeps it, even if it was revoked, and issues another one of the file", async () => {
  await using gateway = await startTestGateway();
  const again = await gateway.startAnother();
  const authorization = `Bearer ${gateway.token}`;
  const answer = await fetch(`${again}/api/v1/tokens`, { headers: { authorization } });
  expect(answer.status).toBe(200);
  expect(((await answer.json()) as { items: unknown[] }).items).toHaveLength(1);
  const id = gateway.token.split("_")[1] ?? "";
  expect((await gateway.call("DELETE", `/api/v1/tokens/${id}`)).status).toBe(200);
  const later = await gateway.startAnother();
  const refused = await fetch(`${later}/api/v1/tokens`, { headers: { authorization } });
  expect(refused.status).toBe(401);
  const renewed = `ty_0123456789abcdef_${"s".repeat(43)}`;
  await writeFile(join(dirname(gateway.blobDir), "token"), renewed);
  await gateway.startAnother();
  const me = await gateway.call("GET", "/api/v1/sessions/current", { token: renewed });
  expect(me).toMatchObject({ status: 200, body: { owner: "local" } });
});
