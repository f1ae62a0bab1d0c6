/**
 * Tests with harmful names, labels, notes and bodies: SQL, headers, terminal escapes, formulas, paths. Each is refused
 * or stored unchanged. The simulated experiments service writes its requests to the real log.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created } from "../testing/example-events.ts";
import { type CallAnswer, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const hostile: readonly string[] = [
  "'; drop table gateway.documents; --",
  '" or 1=1 --',
  "$1 \\ \\' E'\\x00'",
  "a\r\nSet-Cookie: session=1\r\n\r\n<html>",
  "\u001b[2J\u001b]0;title\u0007",
  "\u009b31m\u0085",
  "=cmd|' /C calc'!A0",
  "@SUM(1+1)*cmd",
  "\u0000",
  "a\ud800b",
  "\u202egnp.exe",
  "../../../../etc/passwd",
  "..%2f..%00",
  "__proto__",
  "constructor",
  "<script>alert(1)</script>",
  "${jndi:ldap://x/a}",
  "{{7*7}}",
  "🦄".repeat(64),
  "x".repeat(100_000),
  " ",
  "*",
];

let gateway: TestGateway;
let stack: AsyncDisposableStack;

beforeAll(async () => {
  gateway = await startTestGateway();
  stack = new AsyncDisposableStack();
  let revision = 0;
  stack.use(
    await gateway.serving("experiments", {
      DescribeExperiment: async (request) => {
        const { name = "", description = "", notes = "", addLabels: labels } = request;
        revision += 1;
        const data = { name, description, notes, labels, revision };
        const position = await gateway.append("experiment-1", {
          type: "ExperimentDescribed",
          data,
        });
        return { position, stream: "experiment-1" };
      },
      MoveExperiments: async () => ({
        position: 0,
        items: [],
      }),
    }),
  );
  stack.use(
    await gateway.serving("registry", {
      CreateModel: async () => ({
        position: 0,
        number: 0,
      }),
    }),
  );
  const position = await gateway.append("experiment-1", created({}));
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(async () => {
  await stack?.disposeAsync();
  await gateway?.[Symbol.asyncDispose]();
});

async function call(method: string, path: string, body?: unknown): Promise<CallAnswer> {
  const answer = await gateway.call(method, `/api/v1/${path}`, body === undefined ? {} : { body });
  expect.soft(answer.status, `${method} ${path} ${JSON.stringify(body)}`).not.toBe(500);
  expect(answer.headers.get("set-cookie")).toBeNull();
  return answer;
}

/** Checks that reads still work and that no data is lost. */
async function expectWhole(): Promise<void> {
  expect((await call("GET", "experiments/1")).status).toBe(200);
  expect((await call("GET", "workspaces")).status).toBe(200);
  const { rows } = await gateway.sql("select count(*)::int as n from gateway.documents");
  expect((rows[0] as { n: number }).n).toBeGreaterThan(0);
}

test.each(hostile)(
  "%j as a name, a label and notes is stored unchanged, or refused",
  async (text) => {
    for (const body of [{ name: text }, { notes: text }, { addLabels: [text] }]) {
      const answer = await call("PATCH", "experiments/1", body);
      expect([200, 400]).toContain(answer.status);
      if (answer.status !== 200) continue;
      const { name, notes, labels } = (await call("GET", "experiments/1")).body;
      expect([name, notes, ...(labels as string[])]).toContain(text);
    }
    const made = await call("POST", "workspaces", { name: text });
    expect([200, 400]).toContain(made.status);
    const notes = await call("POST", "workspaces", {
      name: `notes of ${hostile.indexOf(text)}`,
      notes: text,
    });
    if (notes.status === 200) expect(notes.body).toMatchObject({ workspace: { notes: text } });
    if (made.status === 200) {
      const path = `workspaces/${encodeURIComponent(text)}`;
      expect((await call("GET", path)).body).toMatchObject({ name: text });
      const project = await call("POST", `${path}/projects`, { name: text });
      expect(project).toMatchObject({
        status: 200,
        body: { project: { name: text, workspace: text } },
      });
    }
    await expectWhole();
  },
);

test.each(hostile)("%j in a path, a query and a header is not found, or refused", async (text) => {
  const written = encodeURIComponent(text.toWellFormed());
  for (const path of [
    `experiments/${written}`,
    `experiments/1/diff/${written}`,
    `experiments/${written}/code`,
    `experiments/${written}/submission`,
    `workspaces/none-${written}/projects`,
    `workspaces/default/projects/none-${written}`,
    `models/${written}`,
    `experiments?labels=${written}&workspace=${written}&pageToken=${written}`,
    `workspaces?pageToken=${written}`,
  ]) {
    const answer = await call("GET", path);
    expect([200, 400, 404, 414, 431]).toContain(answer.status);
  }
  await call("POST", "experiments:move", { experiments: [text], workspace: text, project: text });
  await call("POST", "models", { name: text, workspace: text });
  await call("POST", "experiments", {
    config: `name: ${text}\nworkspace: ${JSON.stringify(text)}`,
  });
  const header = text.replaceAll(/[^\u0020-\u007e]/g, "?").slice(0, 1_000);
  for (const name of ["if-match", "idempotency-key", "traceparent"]) {
    const answer = await gateway.call("PATCH", "/api/v1/experiments/1", {
      body: { notes: "n" },
      headers: { [name]: header },
    });
    expect(answer.status).not.toBe(500);
  }
  await expectWhole();
});

test.each([
  ["notes of an experiment", "PATCH", "experiments/1", { notes: "n".repeat(1_500_000) }],
  ["metadata of a model", "POST", "models", { name: "m", metadata: { a: "n".repeat(1_500_000) } }],
])("%s larger than a service's message are refused with the limit", async (...asked) => {
  const [, method, path, body] = asked;
  const answer = await call(method, path, body);
  expect(answer).toMatchObject({ status: 413, body: { code: "too_large" } });
  expect(answer.body["detail"]).toMatch(/has 1500\d{3} bytes; the bus carries at most 1048576/);
  await expectWhole();
});

const routes = [
  ["POST", "workspaces"],
  ["PATCH", "workspaces/default"],
  ["POST", "workspaces/default/projects"],
  ["POST", "workspaces/default/archive"],
  ["PATCH", "experiments/1"],
  ["POST", "experiments"],
  ["POST", "experiments:move"],
  ["POST", "experiments:label"],
  ["POST", "experiments/1/fork"],
  ["POST", "models"],
  ["POST", "models/iris/move"],
] as const;

const keys =
  "name description notes labels addLabels removeLabels workspace project experiments config context overrides repository paused dryRun reason gcPolicy priority metadata".split(
    " ",
  );
const someBody = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(fc.constantFrom(...keys), fc.oneof(fc.jsonValue(), fc.constantFrom(...hostile)), {
    maxKeys: 6,
  }),
);

test("no request body causes a 500", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), someBody, async ([method, path], body) => {
      await call(method, path, body);
    }),
    { numRuns: 400 },
  );
  await expectWhole();
});

test.each([
  [1, "a\0"],
  [null, "a"],
  [0.5, "a"],
  ["1", 2],
  [Number.MAX_VALUE, "a"],
])("no page token causes a 500: %j, %j", async (...start) => {
  const token = Buffer.from(JSON.stringify(start)).toString("base64url");
  for (const list of ["experiments", "workspaces", "models", "tokens"]) {
    expect((await call("GET", `${list}?pageToken=${token}`)).status).toBe(400);
  }
});

test("random bytes never cause a 500", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.uint8Array({ maxLength: 200 }),
      async ([method, path], bytes) => {
        const answer = await fetch(`${gateway.url}/api/v1/${path}`, {
          method,
          headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
          body: Buffer.from(bytes),
        });
        await answer.text();
        expect(answer.status).not.toBe(500);
      },
    ),
    { numRuns: 100 },
  );
  await expectWhole();
});

test("a page token of the deletion hold that is no checkpoint is refused", async () => {
  const answer = await gateway.call("GET", "/api/v1/storages:hold?pageToken=%00");
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
});
