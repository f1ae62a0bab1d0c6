/** Tests of when an agent is ready: it needs the API, for its runs, and the scheduler. */
import { permissionsOf } from "@trainyard/bus/server";
import { createMemoryBus, startNats } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, expect, test, vi } from "vitest";
import { EngineWatch } from "./runtime/engine-watch.ts";
import { createService } from "./service.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { removeFolders } from "./testing/examples.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

const patient = { timeout: 10_000, interval: 20 };
const logger = createLogger("agent", "silent");

afterAll(removeFolders);

test("an agent is ready once the API and the scheduler have answered, and stays ready", async () => {
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const agent = await createService(agentConfig(platform.url), {
    bus: hub.connect("agent-rack"),
    logger,
  });
  await using _agent = agent;
  await agent.start();
  const waits = "the scheduler has not answered yet";
  await vi.waitFor(() => expect(agent.readiness()).toBe(waits), patient);
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  platform.send();
  await vi.waitFor(() => expect(agent.readiness()).toBeNull(), patient);
});

/** A logger whose lines a test reads. */
function kept() {
  const lines: { level: string; msg: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0]);
  return { lines, logger: createLogger("agent", "info", { stream: { write } }) };
}

const level = "warn";

test("an agent whose API does not answer says so, and is not ready", async () => {
  const hub = createMemoryBus();
  const log = kept();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const config = agentConfig(platform.url, { TRAINYARD_API_URL: nowhere });
  const overrides = { bus: hub.connect("agent-rack"), logger: log.logger };
  const agent = await createService(config, overrides);
  await using _agent = agent;
  await agent.start();
  const reason = /^the API at http:\/\/127\.0\.0\.1:1 has not answered yet/;
  await vi.waitFor(() => expect(agent.readiness()).toMatch(reason), patient);
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  platform.send();
  expect(agent.readiness()).toMatch(reason);
  const told = { level, msg: "not_ready", reason: expect.stringMatching(reason) as string };
  expect(log.lines).toContainEqual(expect.objectContaining(told));
  expect(log.lines.map(({ msg }) => msg)).not.toContain("ready");
});

test("an agent whose password NATS refuses says so in its log and on /readyz, and is never ready", async () => {
  const user = {
    ...{ name: "agent-rack", password: "right" },
    permissions: permissionsOf({ kind: "agent", agent: "rack" }),
  };
  await using server = await startNats({ users: [user] });
  const log = kept();
  const config = agentConfig(nowhere, {
    TRAINYARD_NATS_URL: server.url,
    TRAINYARD_NATS_USER: "agent-rack",
    TRAINYARD_NATS_PASSWORD: "wrong",
  });
  const agent = await createService(config, { logger: log.logger });
  await using _agent = agent;
  await agent.start();
  const refused = 'the NATS server refuses the user "agent-rack" or its password';
  await vi.waitFor(() => expect(agent.readiness()).toContain(refused), patient);
  expect(agent.readiness()).toContain(`the API at ${nowhere} has not answered yet`);
  const told = { level, msg: "not_ready", reason: expect.stringContaining(refused) as string };
  await vi.waitFor(() => expect(log.lines).toContainEqual(expect.objectContaining(told)), patient);
  expect(log.lines.map(({ msg }) => msg)).not.toContain("ready");
});

test("an agent of root without users for runs warns in its log, and its report says it", async ({
  skip,
}) => {
  if (process.getuid?.() !== 0) notRun(skip, "root, whose runs have the rights of root");
  const hub = createMemoryBus();
  const log = kept();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const overrides = { bus: hub.connect("agent-rack"), logger: log.logger };
  const agent = await createService(agentConfig(platform.url), overrides);
  await using _agent = agent;
  await agent.start();
  const told = { level, msg: "runs_have_roots_rights" };
  expect(log.lines).toContainEqual(expect.objectContaining(told));
  await vi.waitFor(() => expect(platform.report?.runsAsRoot).toBe(true), patient);
});

test("an agent whose container engine does not answer says so and since when, and is ready when it comes back", async () => {
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  await using engine = await FakeEngine.start([]);
  engine.isAway = true;
  const settings = {
    TRAINYARD_AGENT_RUNTIME: "docker",
    TRAINYARD_AGENT_ENGINE_SOCKET: engine.socket,
  };
  const agent = await createService(agentConfig(platform.url, settings), {
    bus: hub.connect("agent-rack"),
    logger,
    patience: { lookMs: 20 },
  });
  await using _agent = agent;
  await agent.start();
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  platform.send();
  const reason = /^the container engine docker has not answered yet \(the container engine at /;
  await vi.waitFor(() => expect(agent.readiness()).toMatch(reason), patient);
  const notice =
    /^the container engine docker at \S+ has not answered since [\d-]+ [\d:]+ UTC: no run starts/;
  await vi.waitFor(
    () => expect(platform.report?.notices).toEqual([expect.stringMatching(notice)]),
    patient,
  );
  engine.isAway = false;
  await vi.waitFor(() => expect(agent.readiness()).toBeNull(), patient);
  await vi.waitFor(() => expect(platform.report?.notices).toEqual([]), patient);
});

test("an engine that is away for some seconds is no news, and a longer outage keeps its sentence", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 2));
  await using engine = await FakeEngine.start([]);
  const watch = new EngineWatch("podman", engine.socket, clock);
  const look = () => watch.peer.answers(new AbortController().signal);
  await look();
  engine.isAway = true;
  await expect(look()).rejects.toThrow("does not answer");
  expect(watch.notice).toBeNull();
  await clock.advance(10_000);
  const since = "has not answered since 2026-01-02 00:00:00 UTC";
  expect(watch.notice).toContain(since);
  await clock.advance(60_000);
  await expect(look()).rejects.toThrow("does not answer");
  expect(watch.notice).toContain(since);
  engine.isAway = false;
  await look();
  expect(watch.notice).toBeNull();
});
