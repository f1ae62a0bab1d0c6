/** The delivery of reports passes the cases of report-cases.json, as the SDK's sender does. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createLogger, createRegistry } from "@trainyard/runtime";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test, vi } from "vitest";
import { RunFolder } from "../state/run-folder.ts";
import { createTelemetry } from "../telemetry.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { deliverReports } from "./report-delivery.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });

type Answer = {
  readonly status: number;
  readonly type?: string;
  readonly retryAfter?: string;
  readonly location?: string;
  readonly body?: object;
};
type Exchange = {
  readonly sent: string;
  readonly answer?: Answer | null;
  readonly afterMs?: number;
};
type Entry =
  | string
  | { readonly hex: string }
  | { readonly torn: string }
  | { readonly reports: number; readonly bytes?: number };
type Case = {
  readonly name: string;
  readonly spool: readonly Entry[];
  readonly acked?: number | string;
  readonly requests: readonly Exchange[];
  readonly settled?: number;
  readonly refused?: boolean;
};

const sdk = join(import.meta.dirname, "../../../../libs/sdk-python");
const { cases } = JSON.parse(readFileSync(join(sdk, "tests/report-cases.json"), "utf8")) as {
  readonly cases: readonly Case[];
};

/** The bytes of each entry of a case's spool. */
function spoolOf(entries: readonly Entry[]): readonly Buffer[] {
  let number = 0;
  return entries.map((entry) => {
    if (typeof entry === "string") return Buffer.from(`${entry}\n`);
    if ("torn" in entry) return Buffer.from(entry.torn);
    if ("hex" in entry) return Buffer.concat([Buffer.from(entry.hex, "hex"), Buffer.from("\n")]);
    const lines = Array.from({ length: entry.reports }, () => {
      number += 1;
      const metrics = entry.bytes === undefined ? { loss: 0.5 } : { text: "x".repeat(entry.bytes) };
      const report = { key: `0-${number}`, group: "training", stepsCompleted: number, atMs: 1 };
      return `${JSON.stringify({ ...report, metrics })}\n`;
    });
    return Buffer.from(lines.join(""));
  });
}

const sizeOf = (entries: readonly Buffer[]): number =>
  entries.reduce((sum, { length }) => sum + length, 0);

function numbersOf(sent: string): readonly number[] {
  const [first = 0, last = first] = sent.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

function answer(response: ServerResponse, answered: Answer): void {
  const { status, type, retryAfter, location, body = {} } = answered;
  const kind = type ?? (status < 300 ? "application/json" : "application/problem+json");
  const retry = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  const place = location === undefined ? {} : { location };
  response.writeHead(status, { "content-type": kind, ...retry, ...place });
  response.end(JSON.stringify(body));
}

type Sent = { readonly request: IncomingMessage; readonly body: string; readonly atMs: number };

async function metricsService(exchanges: readonly Exchange[]) {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const exchange = exchanges[sent.length];
      const body = Buffer.concat(chunks).toString("utf8");
      sent.push({ request, body, atMs: systemClock.monotonicMs() });
      if (exchange?.answer === null) response.destroy();
      else answer(response, exchange?.answer ?? { status: exchange === undefined ? 500 : 200 });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, sent, [Symbol.dispose]: stop };
}

type Body = {
  readonly refuseAlone: boolean;
  readonly reports: readonly { readonly key: string }[];
};

test.concurrent.each(cases)("$name", async ({ spool, acked, requests, ...expected }) => {
  const entries = spoolOf(spool);
  const launch = launchOf("unused", { trial: "12.3", run: 2, allocation: "12.3#2" });
  const folder = RunFolder.create(newFolder(), launch, systemClock);
  const place = join(folder.runDir, "spool");
  mkdirSync(place);
  writeFileSync(join(place, "reports.ndjson"), Buffer.concat(entries));
  const offset = join(place, "reports.acked");
  if (acked !== undefined) {
    const text = typeof acked === "string" ? acked : String(sizeOf(entries.slice(0, acked)));
    writeFileSync(offset, text);
  }
  using service = await metricsService(requests);
  const events = createTelemetry(createRegistry("agent"), createLogger("agent", "silent"));
  const deps = { folder, metricsUrl: service.url, events, clock: systemClock };
  const end = await deliverReports(deps, AbortSignal.timeout(50_000));

  const bodies = service.sent.map(({ body }) => JSON.parse(body) as Body);
  const keys = bodies.map(({ reports }) => reports.map(({ key }) => Number(key.slice(2))));
  expect(keys).toEqual(requests.map(({ sent }) => numbersOf(sent)));
  const isSuperseded = requests.some(
    ({ answer }) => answer?.status === 409 && answer.type === undefined,
  );
  expect(end).toBe(expected.refused === true || isSuperseded ? "refused" : "delivered");
  const written = new Map(
    Buffer.concat(entries)
      .toString("utf8")
      .split("\n")
      .filter((line) => line.startsWith('{"key":"0-') && line.endsWith("}}"))
      .map((line) => [line.slice(8).split('"')[0], line]),
  );
  for (const [n, { request, body }] of service.sent.entries()) {
    expect(`${request.method} ${request.url}`).toBe("POST /api/v1/runs/12.3%232/reports");
    expect(request.headers).toMatchObject({
      authorization: `Bearer ${launch.token}`,
      "content-type": "application/json",
    });
    const lines = bodies[n]?.reports.map(({ key }) => written.get(key)) ?? [];
    expect(body).toBe(`{"refuseAlone":true,"reports":[${lines.join(",")}]}`);
  }
  for (const [n, { afterMs = 0 }] of requests.entries()) {
    const waitedMs = (service.sent[n]?.atMs ?? 0) - (service.sent[n - 1]?.atMs ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(afterMs);
  }
  const settled = sizeOf(entries.slice(0, expected.settled ?? entries.length));
  const recorded = existsSync(offset) ? Number(readFileSync(offset, "utf8")) : 0;
  expect(recorded).toBe(settled);
});
