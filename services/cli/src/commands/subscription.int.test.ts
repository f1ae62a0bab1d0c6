/** Tests of the commands about subscriptions and webhooks, against a server that answers as the platform does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = programFile(join(import.meta.dirname, "..", "main.ts"));
const event = "00000000-0000-7000-8000-000000000007";
const place = `120:${event}`;

type Call = { readonly call: string; readonly body: unknown };

let server: Server;
let calls: Call[];
let answers: Record<string, object>;

const subscription = (more: object = {}) => ({
  ...{ name: "ci", delivery: "pull", state: "ACTIVE", owner: "ada", token: "t-1" },
  ...{ createdAtMs: 0, position: place, lagEvents: 3, lagSeconds: 61 },
  ...more,
});
const webhook = {
  settings: { format: "slack", logPattern: "OOM", namedOnly: true },
  ...{ url: "https://hooks.example.org", headers: ["x-team"], waiting: 2 },
};

beforeEach(async () => {
  calls = [];
  answers = {};
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const [path = ""] = (request.url ?? "").split("?");
      const call = `${request.method} ${decodeURIComponent(path).replace("/api/v1/", "")}`;
      calls.push({ call, body: text === "" ? null : JSON.parse(text) });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answers[call] ?? { position: "7" }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

async function yard(...args: readonly string[]) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { PATH, TY_TEST_RUN } = process.env;
  const env = { PATH, TY_TEST_RUN, TRAINYARD_URL: url, TRAINYARD_TOKEN: "t" };
  const child = spawn(process.execPath, [main, ...args], { env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

test("subscription create sends the filter, the start and the expiry that its options say", async () => {
  answers = { "POST subscriptions": { position: "8", subscription: subscription() } };
  const filter = ["--type", "ExperimentEnded", "--type", "TrialEnded", "--where", "state=ERROR"];
  const more = ["--label", "nightly", "--experiment", "12", "--workspace", "vision"];
  const rest = ["--after", "0", "--expires-after", "2h"];
  const { code, err } = await yard("subscription", "create", "ci", ...filter, ...more, ...rest);
  expect([code, err]).toEqual([0, expect.stringContaining(`which begins after ${place}`)]);
  expect(calls.at(-1)).toEqual({
    call: "POST subscriptions",
    body: {
      ...{ name: "ci", delivery: "pull", after: "0", expiresAfterMs: 7_200_000 },
      filter: {
        ...{ types: ["ExperimentEnded", "TrialEnded"], where: ["state=ERROR"] },
        ...{ label: "nightly", experiment: "12", workspace: "vision" },
      },
    },
  });
});

test.each([
  ["--expires-after takes seconds or 30m, 12h, 7d", ["--expires-after", "soon"]],
  ["--after and --since exclude each other", ["--after", "now", "--since", "10m"]],
  ["--since takes 10m, 2h, 7d (ago)", ["--since", "yesterday"]],
])("subscription create is refused in one sentence: %s", async (sentence, options) => {
  const { code, err } = await yard("subscription", "create", "ci", ...options);
  expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  expect(err.trim().split("\n")).toHaveLength(1);
  expect(calls).toEqual([]);
});

test("subscription create prints the password of a NATS user once, with its configuration", async () => {
  const nats = {
    ...{ user: "feed-ci", password: "pw-1", subject: "ty.feed.ci" },
    configuration: "{ user: feed-ci }",
  };
  answers = { "POST subscriptions": { subscription: subscription({ delivery: "nats" }), nats } };
  const { code, out, err } = await yard("subscription", "create", "ci", "--delivery", "nats");
  expect([code, err]).toEqual([0, expect.stringContaining("is not shown again")]);
  expect(out).toMatch(/password +pw-1\n/);
  expect(out).toContain("{ user: feed-ci }");
});

test("webhook create reads the secret from a file, and prints only the secret to stdout", async () => {
  const folder = mkdtempSync(join(tmpdir(), "webhook-"));
  const file = join(folder, "secret");
  writeFileSync(file, "whsec_abc\n");
  answers = {
    "POST subscriptions": {
      ...{ position: "8", secret: "whsec_abc" },
      subscription: subscription({ delivery: "webhook", webhook }),
    },
  };
  const url = "https://hooks.example.org/T1";
  const options = ["--format", "slack", "--header", "X-Team: vision", "--secret-file", file];
  const triggers = ["--log-pattern", "OOM", "--queue-wait", "10m", "--named-only"];
  const made = await yard("webhook", "create", "ci", url, ...options, ...triggers);
  rmSync(folder, { recursive: true });
  expect([made.code, made.out]).toEqual([0, "whsec_abc\n"]);
  expect(made.err).toContain("its signing secret is not shown again");
  expect(calls.at(-1)?.body).toMatchObject({
    delivery: "webhook",
    webhook: {
      ...{ url, headers: { "X-Team": "vision" }, secret: "whsec_abc" },
      settings: { format: "slack", logPattern: "OOM", queueWaitMs: 600_000, namedOnly: true },
    },
  });
});

test("webhook set keeps the settings that no option names", async () => {
  answers = { "GET subscriptions/ci": subscription({ delivery: "webhook", webhook }) };
  expect((await yard("webhook", "set", "ci", "--log-pattern", "NaN")).code).toBe(0);
  expect(calls.at(-1)).toEqual({
    call: "PATCH subscriptions/ci",
    body: { webhook: { format: "slack", logPattern: "NaN", namedOnly: true } },
  });
  const waiting = { ...webhook, settings: { ...webhook.settings, queueWaitMs: 5_000 } };
  answers = { "GET subscriptions/ci": subscription({ delivery: "webhook", webhook: waiting }) };
  expect((await yard("webhook", "set", "ci", "--log-pattern", "")).code).toBe(0);
  expect(calls.at(-1)?.body).toEqual({
    webhook: { format: "slack", queueWaitMs: 5_000, namedOnly: true },
  });
  expect((await yard("webhook", "set", "ci", "--queue-wait", "never")).code).toBe(0);
  expect(calls.at(-1)?.body).toEqual({
    webhook: { format: "slack", logPattern: "OOM", namedOnly: true },
  });
});

test("subscription set without an option is refused, and --all-events removes the filter", async () => {
  const { code, err } = await yard("subscription", "set", "ci");
  expect([code, err]).toEqual([2, expect.stringContaining("Nothing changes")]);
  expect((await yard("subscription", "set", "ci", "--all-events")).code).toBe(0);
  expect(calls).toEqual([{ call: "PATCH subscriptions/ci", body: { filter: {} } }]);
});

test("subscription list and show print the state, the lag and why nothing is delivered", async () => {
  const stopped = subscription({ state: "STOPPED", reason: "its token was revoked" });
  answers = { "GET subscriptions": { items: [stopped] }, "GET subscriptions/ci": stopped };
  const listed = await yard("subscription", "list");
  expect(listed.out).toMatch(/SUBSCRIPTION +DELIVERY +STATE +OWNER +LAG/);
  expect(listed.out).toMatch(/ci +pull +STOPPED +ada +3 .*its token was revoked/);
  const shown = await yard("subscription", "show", "ci");
  expect(shown.out).toMatch(/lag +3 events, 1m 1s\n/);
  const json = await yard("subscription", "show", "ci", "-o", "json");
  expect(JSON.parse(json.out)).toMatchObject({ name: "ci", state: "STOPPED", position: place });
});

test.each([
  ["POST subscriptions/ci:adopt", ["adopt", "ci"]],
  ["POST subscriptions/ci:disable", ["disable", "ci", "--reason", "full"]],
  ["POST subscriptions/ci:enable", ["enable", "ci"]],
  ["DELETE subscriptions/ci", ["delete", "ci"]],
])("both groups send %s", async (call, args) => {
  for (const group of ["subscription", "webhook"]) {
    expect((await yard(group, ...args)).code).toBe(0);
    expect(calls.at(-1)?.call).toBe(call);
  }
});

test("subscription ack prints the place that is acknowledged", async () => {
  answers = { "POST subscriptions/ci:ack": { position: place } };
  const { out } = await yard("subscription", "ack", "ci", "100");
  expect(out).toContain(`acknowledged up to ${place}`);
  expect(calls.at(-1)?.body).toEqual({ position: "100" });
});

test("webhook test fails if the receiver does not answer with a success", async () => {
  answers = { "POST subscriptions/ci:test": { tookMs: 12, status: 204 } };
  expect(await yard("webhook", "test", "ci")).toMatchObject({
    ...{ code: 0, out: "the receiver answered 204 after 12 ms\n" },
  });
  answers = { "POST subscriptions/ci:test": { tookMs: 12, status: 500, answer: "no" } };
  const failed = await yard("webhook", "test", "ci");
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining("answered 500")]);
  answers = { "POST subscriptions/ci:test": { tookMs: 12, error: "The name has no address." } };
  const unanswered = await yard("webhook", "test", "ci");
  expect([unanswered.code, unanswered.err]).toEqual([1, "The name has no address.\n"]);
});

test("webhook rotate prints the new secret once, and until when the old one signs", async () => {
  answers = { "POST subscriptions/ci:rotate": { secret: "whsec_new", oldUntilMs: 1_000 } };
  const { out, err } = await yard("webhook", "rotate", "ci", "--old-for", "0");
  expect([out, err]).toEqual(["whsec_new\n", expect.stringContaining("until 1970-01-01 00:00:01")]);
  expect(calls.at(-1)?.body).toEqual({ oldForMs: 0 });
});

test("webhook deliveries lists the latest attempt of each event, and redeliver sends one again", async () => {
  const attempts = [{ atMs: 1_000, tookMs: 5, status: 503 }];
  const delivery = { event, type: "ExperimentEnded", subject: "experiment-12", state: "WAITING" };
  answers = { "GET subscriptions/ci/deliveries": { items: [{ ...delivery, attempts }] } };
  const { out } = await yard("webhook", "deliveries", "ci", "--state", "WAITING");
  expect(out).toMatch(new RegExp(`${event} +ExperimentEnded +experiment-12 +WAITING .* +503`));
  expect((await yard("webhook", "redeliver", "ci", event)).code).toBe(0);
  expect(calls.at(-1)?.call).toBe(`POST subscriptions/ci/deliveries/${event}:redeliver`);
});

test("token revoke names the subscriptions that stop", async () => {
  answers = { "DELETE tokens/t-1": { position: "9", subscriptions: ["ci", "bot"] } };
  const { code, err } = await yard("token", "revoke", "t-1");
  expect(code).toBe(0);
  expect(err).toContain("subscription ci stops with it: yard subscription adopt ci continues it");
  expect(err).toContain("subscription bot stops");
});
