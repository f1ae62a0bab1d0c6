/** Model code from registries and over links that are slow, stall, or are unavailable. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createMemoryBus } from "@trainyard/bus/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTelemetry } from "../telemetry.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { ScriptedPlatform } from "../testing/scripted-platform.ts";
import { CodeArchives } from "./code-archives.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };
const silenceMs = 500;

let platform: ScriptedPlatform;
let contexts: CodeArchives;
const stopping = new AbortController();

beforeEach(async () => {
  const hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const events = createTelemetry(createRegistry("agent"), createLogger("agent", "silent"));
  const bus = hub.connect("agent-rack");
  contexts = new CodeArchives({
    folder: newFolder(),
    agent: "rack",
    bus,
    clock: systemClock,
    events,
    silenceMs,
    toldMs: 0,
  });
});

afterEach(async () => {
  await platform[Symbol.asyncDispose]();
});

test("a download that progresses has no time limit, and shows its progress", async () => {
  const content = randomBytes(100_000);
  const digest = platform.addContext(content);
  platform.drip = { bytes: 1_000, piecesMax: 1_000 };
  const startedMs = performance.now();
  const fetched = contexts.packed(digest, stopping.signal);
  await vi.waitFor(() => expect(contexts.progressOf(digest).pieces).toBeGreaterThan(2), patient);
  const { pieces } = contexts.progressOf(digest);
  await vi.waitFor(
    () => expect(contexts.progressOf(digest).pieces).toBeGreaterThan(pieces),
    patient,
  );
  expect(readFileSync(await fetched)).toEqual(content);
  expect(performance.now() - startedMs).toBeGreaterThan(2 * silenceMs);
  expect(platform.downloads).toBe(1);
});

test("a download that stalls is restarted", async () => {
  const content = randomBytes(10_000);
  const digest = platform.addContext(content);
  platform.drip = { bytes: 1_000, piecesMax: 3 };
  const fetched = contexts.packed(digest, stopping.signal);
  await vi.waitFor(() => expect(contexts.progressOf(digest).waits).toBe(true), patient);
  platform.drip = null;
  expect(readFileSync(await fetched)).toEqual(content);
  expect(platform.downloads).toBeGreaterThan(1);
  expect(contexts.progressOf(digest).waits).toBe(false);
});

test("the agent waits for a registry that is unavailable, and reports the wait", async () => {
  const digest = platform.addContext(randomBytes(100));
  platform.contextStatus = 503;
  const fetched = contexts.packed(digest, stopping.signal);
  await vi.waitFor(() => expect(contexts.progressOf(digest).waits).toBe(true), patient);
  expect(contexts.progressOf(digest).pieces).toBe(0);
  platform.contextStatus = 200;
  await fetched;
  expect(contexts.progressOf(digest)).toMatchObject({ waits: false });
});

test("the reason why a run's code cannot be fetched is reported once to each run that waits, also to a late one, without the signed address", async () => {
  const refusal = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
  const digest = platform.addContext(Buffer.from(refusal));
  platform.contextStatus = 403;
  const [told, toldOther, toldLate]: [string[], string[], string[]] = [[], [], []];
  const fetched = contexts.packed(digest, stopping.signal, (line) => told.push(line));
  const shared = contexts.packed(digest, stopping.signal, (line) => toldOther.push(line));
  const sentence = `the model code cannot be fetched: ${new URL(platform.url).host} answers 403 (AccessDenied: Request has expired); trying again`;
  await vi.waitFor(() => expect(platform.downloads).toBeGreaterThan(3), patient);
  expect(told).toEqual([sentence]);
  expect(toldOther).toEqual([sentence]);
  const late = contexts.packed(digest, stopping.signal, (line) => toldLate.push(line));
  await vi.waitFor(() => expect(toldLate).toEqual([sentence]), patient);
  const { downloads } = platform;
  await vi.waitFor(() => expect(platform.downloads).toBeGreaterThan(downloads), patient);
  expect([told, toldOther, toldLate]).toEqual([[sentence], [sentence], [sentence]]);
  platform.contextStatus = 200;
  await Promise.all([fetched, shared, late]);
});
