import { fromBinary } from "@bufbuild/protobuf";
import { StartDeviceLoginRequestSchema, StartedDeviceLoginSchema } from "@trainyard/contracts/api";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authidOf } from "@trainyard/access";
import { digestOfSecret } from "../../http/caller.ts";
import { DeviceLogins } from "../../people/device-logins.ts";
import { deviceLoginLimits } from "../../people/limits.ts";
import { GrpcConnection } from "../../testing/grpc-call.ts";
import { bytesOf } from "../../testing/grpc-routes.ts";
import { addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let ada: TestUser;
let cookie = "";

beforeAll(async () => {
  gateway = await startTestGateway();
  const opened = await gateway.call("POST", "/api/v1/sessions", {
    body: { token: gateway.token },
    token: null,
  });
  cookie = (opened.headers.get("set-cookie") ?? "").split("=")[0] ?? "";
  ada = await addUser(gateway, "ada", { role: "cluster-admin" });
  const secret = "A".repeat(43);
  await gateway.sql("insert into gateway.sessions (digest, token, user_id) values ($1, '', $2)", [
    digestOfSecret(secret),
    ada.id,
  ]);
  cookie = `${cookie}=${secret}`;
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

const path = "/api/v1/device-logins";

async function start() {
  const body = { program: "yard 0.1.0 on laptop" };
  const { status, body: started } = await gateway.call("POST", path, { body, token: null });
  expect(status).toBe(200);
  return started as { readonly code: string; readonly secret: string; readonly path: string };
}

const finish = (secret: string) =>
  gateway.call("POST", `${path}:finish`, { body: { secret }, token: null });

const asAda = (method: string, target: string, body?: unknown) =>
  gateway.call(method, target, {
    token: null,
    body,
    headers: { cookie, origin: gateway.url, "sec-fetch-site": "same-origin" },
  });

const answer = (code: string, confirm: boolean) =>
  asAda("POST", `${path}/${code}:answer`, { confirm });

describe("a sign-in of a program", () => {
  test("shows the program's address to the person who confirms it, also of a program that asks over gRPC", async () => {
    using connection = new GrpcConnection(gateway.grpcUrl);
    const { messages } = await connection.call(
      "/trainyard.api.v1.DeviceLoginService/StartDeviceLogin",
      { messages: [bytesOf(StartDeviceLoginRequestSchema, { program: "yard 0.1.0 on laptop" })] },
    );
    const { code } = fromBinary(StartedDeviceLoginSchema, messages[0] ?? new Uint8Array());
    const shown = await asAda("GET", `${path}/${code}`);
    expect(shown.body).toMatchObject({ code, address: "127.0.0.1" });
  });

  test("gives a token of the person who confirmed it, once", async () => {
    const { code, secret, path: page } = await start();
    expect(page).toBe(`/device?code=${code}`);
    expect((await finish(secret)).body).toMatchObject({ code: "authorization_pending" });
    const shown = await asAda("GET", `${path}/${code.toLowerCase()}`);
    expect(shown.body).toMatchObject({ program: "yard 0.1.0 on laptop", address: "127.0.0.1" });
    expect((await answer(code, true)).status).toBe(200);
    const finished = await finish(secret);
    expect(finished).toMatchObject({ status: 200, body: { user: "ada" } });
    const token = String(finished.body["token"]);
    const current = await gateway.call("GET", "/api/v1/sessions/current", { token });
    expect(current.body).toMatchObject({ user: ada.id, label: "yard 0.1.0 on laptop" });
    expect((await finish(secret)).body).toMatchObject({ code: "expired_token" });
  });

  test("is useless by its code, before and after it is confirmed", async () => {
    const { code } = await start();
    await answer(code, true);
    expect((await finish(code)).body).toMatchObject({ code: "expired_token" });
    expect((await answer(code, true)).body).toMatchObject({ code: "no_such_code" });
  });

  test("is confirmed in a browser only, and a token confirms nothing", async () => {
    const { code, secret } = await start();
    const byToken = await gateway.call("POST", `${path}/${code}:answer`, {
      body: { confirm: true },
      token: ada.token,
    });
    expect(byToken).toMatchObject({ status: 403, body: { code: "needs_session" } });
    const unknown = await gateway.call("GET", `${path}/${code}`, { token: null });
    expect(unknown.status).toBe(401);
    await answer(code, false);
    expect((await finish(secret)).body).toMatchObject({ code: "access_denied" });
  });

  test("asks too often at first, and ends after its time", async () => {
    const { code, secret } = await start();
    await finish(secret);
    expect((await finish(secret)).body).toMatchObject({ code: "slow_down" });
    await gateway.sql("update gateway.device_logins set expires_at = now()");
    expect((await finish(secret)).body).toMatchObject({ code: "expired_token" });
    expect((await answer(code, true)).body).toMatchObject({ code: "no_such_code" });
  });

  test("gives nothing if the person was disabled meanwhile", async () => {
    const bo = await addUser(gateway, "bo");
    const { code, secret } = await start();
    await gateway.sql(
      "update gateway.device_logins set state = 'confirmed', owner = $2 where code = $1",
      [code, authidOf(bo.id)],
    );
    const data = { reason: "", by: "user:ada" };
    const position = await gateway.append(`user-${bo.id}`, { type: "UserDisabled", data });
    await gateway.call("GET", `/api/v1/tokens?minPosition=${position}`);
    expect((await finish(secret)).body).toMatchObject({ code: "user_disabled" });
  });

  test("is refused while too many wait from an address", async () => {
    await gateway.sql("delete from gateway.device_logins");
    for (let n = 0; n < deviceLoginLimits.ofAddressMax; n += 1) await start();
    const body = { program: "one more" };
    const refused = await gateway.call("POST", path, { body, token: null });
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_logins" } });
    expect(refused.headers.get("retry-after")).toBe("60");
  });

  test("counts the addresses of one /64 as one", async () => {
    const logins = new DeviceLogins({ query: gateway.sql } as unknown as Pool);
    await gateway.sql("delete from gateway.device_logins");
    for (let n = 0; n < deviceLoginLimits.ofAddressMax; n += 1) {
      await logins.start("yard", `2001:db8::${n}`);
    }
    await expect(logins.start("yard", "2001:db8::ff")).rejects.toThrow("too many sign-ins");
    const { code } = await logins.start("yard", "2001:db8:0:1::1");
    expect(await logins.find(code)).toMatchObject({ address: "2001:db8:0:1::1" });
  });

  test.each(["", "two\nlines", "x".repeat(101)])("a program of %j is refused", async (program) => {
    const refused = await gateway.call("POST", path, { body: { program }, token: null });
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });
});
