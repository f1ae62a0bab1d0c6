import { expect, test } from "vitest";
import { Client } from "@trainyard/client";
import { playGateway, problem } from "../testing/played-gateway.ts";
import { webWords } from "./ui.ts";

test("yard ui prints a link with a new sign-in code after the #, and the time of its expiry", async () => {
  const expiresAtMs = Date.UTC(2026, 0, 1, 12);
  await using gateway = await playGateway(() => ({ body: { code: "abc", expiresAtMs } }));
  const said = await gateway.yard("ui");
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    ["POST /api/v1/session-codes", {}],
  ]);
  expect(said).toMatchObject({ code: 0 });
  expect(said.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=abc\n$/);
  expect(said.err).toMatch(/^the link works once, until \d\d:\d\d\n$/);
  const json = await gateway.yard("ui", "-o", "json");
  expect(JSON.parse(json.out)).toEqual({
    link: expect.stringMatching(/#code=abc$/),
    expiresAtMs,
  });
});

test("the address of a cluster whose token was revoked or disabled is said without a link, and how to sign in", async () => {
  const refusal = "this user is disabled: ask an admin";
  await using gateway = await playGateway(() => problem(401, "user_disabled", refusal));
  expect(await webWords(new Client({ url: gateway.url, token: "t" }), gateway.url)).toEqual({
    address: gateway.url,
    note: `sign in with your name and password: the token of this host gives no link, since ${refusal}`,
  });
});
