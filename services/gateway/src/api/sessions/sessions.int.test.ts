import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpLimits } from "../../http/limits.ts";
import { type CallAnswer, startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway[Symbol.asyncDispose]());

const path = "/api/v1/sessions";
const current = `${path}/current`;

const signIn = (body: object, headers: Record<string, string> = {}) =>
  gateway.call("POST", path, { body, headers, token: null });

/** Returns the cookie of an answer in the form in which a browser sends it back. */
function cookieOf(answer: CallAnswer): string {
  expect(answer.status).toBe(200);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** Makes a call in the way of a browser on a page of this server. */
const byCookie = (
  cookie: string,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body?: unknown,
) =>
  gateway.call(method, target, {
    token: null,
    body,
    headers: { cookie, origin: gateway.url, "sec-fetch-site": "same-origin", ...headers },
  });

const newToken = async (body: object = {}) => {
  const made = await gateway.call("POST", "/api/v1/tokens", { body });
  return { text: String(made.body["secret"]), ...(made.body["token"] as { id: string }) };
};

const newCode = async (): Promise<string> => {
  const made = await gateway.call("POST", "/api/v1/session-codes", { body: {} });
  expect(made.status).toBe(200);
  return String(made.body["code"]);
};

describe("a session", () => {
  it("is opened by a token in the body or in the header, or by a code that works once", async () => {
    const code = await newCode();
    for (const opened of [
      await signIn({ token: gateway.token }),
      await gateway.call("POST", path, { body: {} }),
      await signIn({ code }),
    ]) {
      const read = await byCookie(cookieOf(opened), "GET", current);
      expect(read).toMatchObject({ status: 200, body: { label: "first", owner: "local" } });
      expect(read.headers.get("cache-control")).toBe("no-store");
      const inHours = (Number(read.body["expiresAtMs"]) - Date.now()) / 3_600_000;
      expect(inHours).toBeCloseTo(httpLimits.sessionIdleHours, 1);
    }
    const again = await signIn({ code });
    expect(again).toMatchObject({ status: 401, body: { code: "invalid_code" } });
    expect(again.body["detail"]).toContain("used before");
    expect(again.headers.get("set-cookie")).toBeNull();
  });

  it("is opened as a cookie that scripts and other sites do not get, named after the cluster", async () => {
    const opened = await signIn({ token: gateway.token });
    const name = `trainyard_${String(opened.body["clusterId"])}`;
    expect(name).toMatch(/^trainyard_[0-9a-f]{12}$/);
    const cookie = opened.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(new RegExp(`^${name}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax$`));
    const tls = { "x-forwarded-proto": "https" };
    const proxied = await signIn({ token: gateway.token }, tls);
    expect(proxied.headers.get("set-cookie")).toMatch(new RegExp(`^__Host-${name}=.*; Secure`));
    // A cookie without the prefix may come from the page of a task: over TLS it signs nobody in, and nobody out.
    const planted = cookieOf(opened);
    expect(await byCookie(planted, "GET", current, tls)).toMatchObject({ status: 401 });
    const both = `${name}=planted; ${cookieOf(proxied)}`;
    expect(await byCookie(both, "GET", current, tls)).toMatchObject({ status: 200 });
    expect(await byCookie(both, "GET", current)).toMatchObject({ status: 200 });
    expect(JSON.stringify(opened.body)).not.toContain(cookieOf(opened).split("=")[1]);
  });

  it("is not opened by a wrong token, a run's token, an empty body or an expired code", async () => {
    const runs = await gateway.runToken("1.1#1");
    expect(await signIn({ token: "ty_no" })).toMatchObject({ status: 401 });
    expect(await signIn({})).toMatchObject({ status: 401, body: { code: "no_token" } });
    expect(await signIn({ token: runs })).toMatchObject({
      status: 403,
      body: { code: "not_for_runs" },
    });
    for (const target of [path, "/api/v1/session-codes"]) {
      const byRun = await gateway.call("POST", target, { body: {}, token: runs });
      expect(byRun).toMatchObject({ status: 403, body: { code: "not_for_runs" } });
    }
    const long = await signIn({ token: "x".repeat(httpLimits.signInBodyBytesMax) });
    expect(long).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const both = await signIn({ token: gateway.token, code: await newCode() });
    expect(both.status).toBe(400);
    const code = await newCode();
    await gateway.sql("update gateway.session_codes set expires_at = now()");
    expect(await signIn({ code })).toMatchObject({ status: 401, body: { code: "invalid_code" } });
  });

  it("is not opened by the cookie of another session, which cannot request a code either", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const answer = await byCookie(cookie, "POST", path, {}, {});
    expect(answer).toMatchObject({ status: 401, body: { code: "no_token" } });
    const code = await byCookie(cookie, "POST", "/api/v1/session-codes", {}, {});
    expect(code).toMatchObject({ status: 403, body: { code: "not_for_sessions" } });
  });

  it("is opened once by a code in two concurrent requests, and later by a code whose session could not be stored", async () => {
    const raced = await newCode();
    const both = await Promise.all([signIn({ code: raced }), signIn({ code: raced })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    const code = await newCode();
    await gateway.sql(
      "alter table gateway.sessions add constraint no_room check (false) not valid",
    );
    expect((await signIn({ code })).status).toBe(500);
    await gateway.sql("alter table gateway.sessions drop constraint no_room");
    expect((await signIn({ code })).status).toBe(200);
  });

  it("is opened without a stored answer, even under an idempotency key", async () => {
    const headers = { "idempotency-key": "sign-in" };
    await signIn({ token: gateway.token }, headers);
    expect((await signIn({}, headers)).status).toBe(401);
    await gateway.call("POST", "/api/v1/session-codes", { body: {}, headers });
    const { rows } = await gateway.sql("select 1 from gateway.idempotency where key = 'sign-in'");
    expect(rows).toEqual([]);
  });
});

describe("the cookie of a session", () => {
  it("may do what its token may, including changes, from a page of this server", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const made = await byCookie(cookie, "POST", "/api/v1/tokens", {}, { label: "by cookie" });
    expect(made).toMatchObject({ status: 200, body: { token: { owner: "local" } } });
  });

  it("makes no token that outlives the session", async () => {
    const opened = await signIn({ token: gateway.token });
    const make = (ttlSeconds?: number) =>
      byCookie(cookieOf(opened), "POST", "/api/v1/tokens", {}, { label: "heir", ttlSeconds });
    const end = Number(opened.body["expiresAtMs"]);
    const made = await make();
    expect((made.body["token"] as { expiresAtMs: number }).expiresAtMs).toBeCloseTo(end, -5);
    expect((await make(3_600)).status).toBe(200);
    const long = await make(86_400);
    expect(long).toMatchObject({ status: 400, body: { code: "outlives_its_creator" } });
    expect(long.body["detail"]).toContain("must not outlive the session that creates it, which");
    expect(long.body["detail"]).toContain('with "yard token create"');
  });

  it("makes no token that outlives the session's token, if that one ends first", async () => {
    const token = await newToken({ ttlSeconds: 3_600 });
    const { expiresAtMs } = token as unknown as { expiresAtMs: number };
    const cookie = cookieOf(await signIn({ token: token.text }));
    const made = await byCookie(cookie, "POST", "/api/v1/tokens", {}, {});
    expect(made.body["token"]).toMatchObject({ expiresAtMs });
    const long = await byCookie(cookie, "POST", "/api/v1/tokens", {}, { ttlSeconds: 7_200 });
    expect(long.body["detail"]).toContain("must not outlive the token that creates it, which");
  });

  it.each([
    ["a change from another origin", "POST", { origin: "http://127.0.0.1:1" }, "cross_origin"],
    ["a change without an origin", "POST", { origin: "" }, "cross_origin"],
    [
      "a change from another port of the host",
      "POST",
      { "sec-fetch-site": "same-site" },
      "cross_origin",
    ],
    [
      "a read from another port of the host",
      "GET",
      { "sec-fetch-site": "same-site" },
      "cross_origin",
    ],
    ["a link on another site", "GET", { "sec-fetch-site": "cross-site" }, "cross_origin"],
  ])("does not allow %s", async (_what, method, headers, code) => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const body = method === "GET" ? undefined : {};
    const answer = await byCookie(cookie, method, "/api/v1/tokens", headers, body);
    expect(answer).toMatchObject({ status: 403, body: { code } });
  });

  it("does not allow a change from a page without an origin", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const answer = await gateway.call("POST", "/api/v1/tokens", {
      ...{ token: null, body: {}, headers: { cookie } },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: "no_origin" } });
  });

  it("is ignored if the request also has a token", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const wrong = await gateway.call("GET", current, { token: "ty_no", headers: { cookie } });
    expect(wrong).toMatchObject({ status: 401, body: { code: "invalid_token" } });
    const right = await gateway.call("GET", current, { headers: { cookie } });
    expect(right.body["expiresAtMs"]).toBeUndefined();
    expect(right.body["label"]).toBe("first");
  });
});

describe("the end of a session", () => {
  const ended = { status: 401, body: { code: "session_ended" } };

  it("is its sign-out, which ends no other session", async () => {
    const [cookie, other] = [
      cookieOf(await signIn({ token: gateway.token })),
      cookieOf(await signIn({ token: gateway.token })),
    ];
    const left = await byCookie(cookie, "DELETE", current);
    expect(left.status).toBe(200);
    expect(left.headers.get("set-cookie")).toMatch(/^trainyard_\w+=; .*Expires=Thu, 01 Jan 1970/);
    expect(await byCookie(cookie, "GET", current)).toMatchObject(ended);
    expect((await byCookie(other, "GET", current)).status).toBe(200);
  });

  it("is the end of its token, by revocation or expiry, which also ends its code", async () => {
    const token = await newToken({ label: "short" });
    const cookie = cookieOf(await signIn({ token: token.text }));
    const made = await gateway.call("POST", "/api/v1/session-codes", {
      ...{ body: {}, token: token.text },
    });
    expect((await byCookie(cookie, "GET", current)).body["label"]).toBe("short");
    await gateway.call("DELETE", `/api/v1/tokens/${token.id}`);
    const revoked = { status: 401, body: { code: "token_revoked" } };
    expect(await byCookie(cookie, "GET", current)).toMatchObject(revoked);
    expect(await signIn({ code: String(made.body["code"]) })).toMatchObject(revoked);
  });

  it("is 12 hours after its last request, not after its first", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const age = (hours: number) =>
      gateway.sql("update gateway.sessions set used_at = now() - make_interval(hours => $1)", [
        hours,
      ]);
    await age(11);
    expect((await byCookie(cookie, "GET", current)).status).toBe(200);
    const { rows } = await gateway.sql(
      "select 1 from gateway.sessions where used_at > now() - interval '1 minute'",
    );
    expect(rows).toHaveLength(1);
    await age(13);
    expect(await byCookie(cookie, "GET", current)).toMatchObject(ended);
  });

  it("is the opening of a newer one, if its token has too many sessions", async () => {
    const token = await newToken({ label: "many" });
    const first = cookieOf(await signIn({ token: token.text }));
    await gateway.sql(
      `insert into gateway.sessions (digest, token) select 'many' || n, $1
       from generate_series(2, $2::int) as n`,
      [token.id, httpLimits.sessionsOfTokenMax],
    );
    await gateway.sql(
      "update gateway.sessions set used_at = now() - interval '1 hour' where token = $1 and digest not like 'many%'",
      [token.id],
    );
    const last = cookieOf(await signIn({ token: token.text }));
    expect(await byCookie(first, "GET", current)).toMatchObject(ended);
    expect((await byCookie(last, "GET", current)).status).toBe(200);
  });
});

describe("an open stream", () => {
  const follow = async (headers: Record<string, string>) => {
    const answer = await fetch(`${gateway.url}/api/v1/events`, { headers });
    expect(answer.status).toBe(200);
    return { ended: answer.text().then(() => "ended") };
  };

  it("ends with its token, and a session's stream ends with the session's token", async () => {
    const token = await newToken({ label: "streams" });
    const cookie = cookieOf(await signIn({ token: token.text }));
    const own = await follow({ authorization: `Bearer ${token.text}` });
    const ofSession = await follow({ cookie, "sec-fetch-site": "same-origin" });
    expect((await gateway.call("DELETE", `/api/v1/tokens/${token.id}`)).status).toBe(200);
    expect(await own.ended).toBe("ended");
    expect(await ofSession.ended).toBe("ended");
  });

  it("ends with its session, and no stream of another session ends", async () => {
    const cookie = cookieOf(await signIn({ token: gateway.token }));
    const other = cookieOf(await signIn({ token: gateway.token }));
    const [own, others] = [await follow({ cookie }), await follow({ cookie: other })];
    expect((await byCookie(cookie, "DELETE", current)).status).toBe(200);
    expect(await own.ended).toBe("ended");
    const open = new Promise((resolve) => setTimeout(resolve, 100, "open"));
    expect(await Promise.race([others.ended, open])).toBe("open");
    expect((await byCookie(other, "DELETE", current)).status).toBe(200);
    expect(await others.ended).toBe("ended");
  });
});

it("the database has no secret of a session or a code", async () => {
  const code = await newCode();
  const [, secret = ""] = cookieOf(await signIn({ token: gateway.token })).split("=");
  const { rows } = await gateway.sql(
    `select s::text as row from gateway.sessions s union all
     select c::text from gateway.session_codes c union all
     select i::text from gateway.idempotency i`,
  );
  expect(rows.length).toBeGreaterThan(1);
  const text = JSON.stringify(rows);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(code);
});

it("an address that guesses codes has to wait", async () => {
  const good = await newCode();
  const guess = () => signIn({ code: "A".repeat(43) });
  let answer = await guess();
  for (let n = 0; n < httpLimits.wrongCodesMax && answer.status === 401; n += 1) {
    answer = await guess();
  }
  expect(answer).toMatchObject({ status: 429, body: { code: "too_many_codes" } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  // Behind a proxy this address is everybody's.
  expect((await signIn({ code: good })).status).toBe(200);
  expect((await signIn({ token: gateway.token })).status).toBe(200);
});
