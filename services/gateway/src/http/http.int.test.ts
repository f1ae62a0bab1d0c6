import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway[Symbol.asyncDispose]());

describe("the API", () => {
  it("refuses a call without a token, except for the version", async () => {
    const refused = await gateway.call("GET", "/api/v1/experiments", { token: null });
    expect(refused).toMatchObject({ status: 401, body: { code: "no_token", status: 401 } });
    expect(refused.headers.get("content-type")).toContain("application/problem+json");
    expect(refused.headers.get("www-authenticate")).toContain("Bearer");
    const version = await gateway.call("GET", "/api/v1/version", { token: null });
    expect(version).toMatchObject({ status: 200, body: { api: "v1" } });
  });

  it("refuses a token that is invented, altered, revoked or expired", async () => {
    const forged = gateway.token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const list = "/api/v1/experiments";
    expect((await gateway.call("GET", list, { token: "x" })).body["code"]).toBe("invalid_token");
    expect((await gateway.call("GET", list, { token: forged })).body["code"]).toBe("invalid_token");
    const made = await gateway.call("POST", "/api/v1/tokens", { body: { label: "ci" } });
    const secret = String(made.body["secret"]);
    expect((await gateway.call("GET", list, { token: secret })).status).toBe(200);
    const { id } = made.body["token"] as { id: string };
    expect((await gateway.call("DELETE", `/api/v1/tokens/${id}`)).status).toBe(200);
    expect((await gateway.call("GET", list, { token: secret })).body["code"]).toBe("token_revoked");
    const brief = await gateway.call("POST", "/api/v1/tokens", { body: { ttlSeconds: 0.001 } });
    const late = await gateway.call("GET", list, { token: String(brief.body["secret"]) });
    expect(late.body["code"]).toBe("token_expired");
  });

  it("issues no token that outlives the token that creates it", async () => {
    const make = (token: string, ttlSeconds?: number) =>
      gateway.call("POST", "/api/v1/tokens", { token, body: { label: "heir", ttlSeconds } });
    const made = await make(gateway.token, 3_600);
    const { expiresAtMs: end } = made.body["token"] as { expiresAtMs: number };
    const parent = String(made.body["secret"]);
    const heir = await make(parent);
    expect(heir).toMatchObject({ status: 200, body: { token: { expiresAtMs: end } } });
    expect((await make(parent, 60)).status).toBe(200);
    for (const ttlSeconds of [3_601, 1e300, "Infinity" as unknown as number]) {
      expect(await make(parent, ttlSeconds)).toMatchObject({
        status: 400,
        body: {
          code: "outlives_its_creator",
          detail: `a token must not outlive the token that creates it, which expires at ${new Date(end).toISOString()}: reduce ttl_seconds, or leave it out to get the same end`,
        },
      });
    }
    const last = await make(String(heir.body["secret"]));
    expect(last).toMatchObject({ status: 200, body: { token: { expiresAtMs: end } } });
    const endless = await make(gateway.token);
    expect(endless.body["token"]).not.toHaveProperty("expiresAtMs");
    const far = await make(gateway.token, 1e300);
    expect(far).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(far.body["detail"]).toContain("is too large");
  });

  it("ends a token with each token that it descends from, and refuses to end the caller's own that way", async () => {
    const issue = async (token: string) => {
      const { body } = await gateway.call("POST", "/api/v1/tokens", { token, body: {} });
      return { secret: String(body["secret"]), id: (body["token"] as { id: string }).id };
    };
    const list = "/api/v1/tokens";
    const first = await issue(gateway.token);
    const heir = await issue(first.secret);
    const last = await issue(heir.secret);
    const revoke = (token: string) =>
      gateway.call("DELETE", `/api/v1/tokens/${first.id}`, { token });
    expect(await revoke(last.secret)).toMatchObject({ status: 409, body: { code: "ends_caller" } });
    expect((await gateway.call("GET", list, { token: last.secret })).status).toBe(200);
    expect((await revoke(gateway.token)).status).toBe(200);
    for (const { secret } of [first, heir, last]) {
      const answer = await gateway.call("GET", list, { token: secret });
      expect(answer).toMatchObject({ status: 401, body: { code: "token_revoked" } });
    }
    const { body } = await gateway.call("GET", list);
    const shown = (body["items"] as { id: string; revoked?: boolean }[]).filter(
      ({ revoked }) => revoked,
    );
    expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, heir.id, last.id]));
  });

  it("issues no token at the end of a chain of more than 16", async () => {
    let token = gateway.token;
    for (let length = 1; length <= 16; length += 1) {
      const { body } = await gateway.call("POST", "/api/v1/tokens", { token, body: {} });
      token = String(body["secret"]);
    }
    const answer = await gateway.call("POST", "/api/v1/tokens", { token, body: {} });
    expect(answer).toMatchObject({ status: 400, body: { code: "too_many_ancestors" } });
  });

  it("refuses a page of another origin", async () => {
    const foreign = await gateway.call("GET", "/api/v1/version", {
      headers: { origin: "https://evil.example" },
    });
    expect(foreign).toMatchObject({ status: 403, body: { code: "cross_origin" } });
    const own = await gateway.call("GET", "/api/v1/version", { headers: { origin: gateway.url } });
    expect(own.status).toBe(200);
  });

  it("refuses a token's label that is longer than a list can show", async () => {
    const made = (label: string) => gateway.call("POST", "/api/v1/tokens", { body: { label } });
    expect(await made("x".repeat(256))).toMatchObject({
      status: 400,
      body: { detail: "the label has 256 characters; the maximum is 255" },
    });
    expect((await made("x".repeat(255))).status).toBe(200);
  });

  it("lists tokens in pages", async () => {
    const made = await gateway.call("POST", "/api/v1/tokens", { body: { label: "last" } });
    const ids: string[] = [];
    let pageToken = "";
    do {
      const { body } = await gateway.call(
        "GET",
        `/api/v1/tokens?pageSize=1&pageToken=${pageToken}`,
      );
      const items = body["items"] as { id: string }[];
      expect(items).toHaveLength(1);
      ids.push(...items.map(({ id }) => id));
      pageToken = String(body["nextPageToken"]);
    } while (pageToken !== "");
    const { body } = await gateway.call("GET", "/api/v1/tokens");
    expect((body["items"] as { id: string }[]).map(({ id }) => id)).toEqual(ids);
    expect(ids).toContain((made.body["token"] as { id: string }).id);
    expect(ids.length).toBeGreaterThan(1);
  });

  it("never shows the digest of a token's secret", async () => {
    const listed = await gateway.call("GET", "/api/v1/tokens");
    expect(JSON.stringify(listed.body)).not.toContain("ecretDigest");
  });
});

describe("an Idempotency-Key", () => {
  const post = (key: string, label: string) =>
    gateway.call("POST", "/api/v1/tokens", {
      body: { label },
      headers: { "idempotency-key": key },
    });

  it("returns the first answer to a repeat", async () => {
    const create = () =>
      gateway.call("POST", "/api/v1/workspaces", {
        body: { name: "once" },
        headers: { "idempotency-key": "k-1" },
      });
    const first = await create();
    expect(first.status).toBe(200);
    expect(await create()).toMatchObject({ status: 200, body: first.body });
  });

  it("is refused with another body", async () => {
    await post("k-2", "once");
    expect(await post("k-2", "twice")).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
  });

  it("is refused if it is malformed", async () => {
    expect(await post("a b", "once")).toMatchObject({ status: 400 });
  });
});

describe("the HTTP server", () => {
  it("refuses unknown paths, invalid bodies and wrong types", async () => {
    expect((await gateway.call("GET", "/api/v1/nothing")).body["code"]).toBe("no_such_path");
    const text = await fetch(`${gateway.url}/api/v1/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
      body: "{",
    });
    expect(text.status).toBe(400);
    expect(await text.json()).toMatchObject({ code: "invalid_request" });
    const wrong = await gateway.call("POST", "/api/v1/tokens", { body: { label: 7 } });
    expect(wrong).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(String(wrong.body["detail"])).toContain("label");
  });

  it('refuses a query value that its field cannot have, and reads "true" in a text field as text', async () => {
    expect(await gateway.call("GET", "/api/v1/experiments?pageSize=many")).toMatchObject({
      status: 400,
      body: {
        code: "invalid_request",
        detail:
          'the query parameter pageSize is "many" and should be an integer from 0 to 4294967295',
        errors: [{ path: "pageSize" }],
      },
    });
    const watched = await gateway.call("GET", "/api/v1/events?label=true&noFollow=true");
    expect(watched.status).toBe(200);
  });

  it("answers 503 with Retry-After while a service is unavailable", async () => {
    const answer = await gateway.call("POST", "/api/v1/experiments/1/pause", { body: {} });
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("1");
  });

  it("describes every route in its OpenAPI document, with resolvable references", async () => {
    const { body } = await gateway.call("GET", "/api/v1/openapi.json", { token: null });
    expect(body["openapi"]).toBe("3.1.0");
    const text = JSON.stringify(body);
    const { schemas } = body["components"] as { schemas: object };
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      expect(schemas).toHaveProperty(name ?? "");
    }
    expect(Object.keys(body["paths"] as object)).toContain("/api/v1/trials/{trial}/logs:follow");
  });

  it("serves its AsyncAPI document without a token", async () => {
    const { body } = await gateway.call("GET", "/api/v1/asyncapi.json", { token: null });
    expect(body).toMatchObject({ asyncapi: "3.0.0", channels: { events: {} } });
  });

  it("answers at / and reports its health", async () => {
    expect((await fetch(gateway.url)).headers.get("content-type")).toContain("text/html");
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(
      /trainyard_http_requests_total\{.*route="\/api\/v1\/[^"]+",status="200".*\} \d/,
    );
  });
});
