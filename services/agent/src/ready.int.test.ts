/** Tests of when an agent is ready: it needs the API, for its runs, and the scheduler. */
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { expect, test, vi } from "vitest";
import { createService } from "./service.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

const patient = { timeout: 10_000, interval: 20 };
const logger = createLogger("agent", "silent");

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

test("an agent whose API does not answer says so, and is not ready", async () => {
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const config = agentConfig(platform.url, { TRAINYARD_API_URL: nowhere });
  const agent = await createService(config, { bus: hub.connect("agent-rack"), logger });
  await using _agent = agent;
  await agent.start();
  const reason = /^the API at http:\/\/127\.0\.0\.1:1 has not answered yet/;
  await vi.waitFor(() => expect(agent.readiness()).toMatch(reason), patient);
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  platform.send();
  expect(agent.readiness()).toMatch(reason);
});
