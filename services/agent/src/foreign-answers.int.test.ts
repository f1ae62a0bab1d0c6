/** Tests of answers that do not come from the platform: of a proxy or a load balancer in front of the gateway. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Bus } from "@trainyard/bus";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { afterAll, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

const checkpoint = "00000000-0000-4000-8000-00000000000f";
const later = "00000000-0000-4000-8000-000000000010";

/** Starts the proxy, and configures an agent that reaches the platform's API through it. */
async function configBehind(proxy: Server, platform: ScriptedPlatform): Promise<AgentConfig> {
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const apiUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { ...agentConfig(platform.url, { TRAINYARD_CHECKPOINT_DIR: newFolder() }), apiUrl };
}

async function startedAgent(config: AgentConfig, bus: Bus) {
  const logger = createLogger("agent", "silent");
  const agent = await createService(config, { bus, logger });
  await agent.start();
  return agent;
}

test.each([401, 403, 404])(
  "a checkpoint is not given up because a proxy answers %d without a problem of the platform",
  async (status) => {
    const proxy = createServer((_, response) => {
      response.writeHead(status, { "content-type": "text/html" }).end("<h1>no backend</h1>");
    });
    const hub = createMemoryBus();
    await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
    const config = await configBehind(proxy, platform);
    await using agent = await startedAgent(config, hub.connect("agent-rack"));
    const told = { sealedMs: 1, checkpoint, stepsCompleted: 1, metadata: {}, manifest: [] };
    const launch = launchOf(
      `mkdir -p "$TRAINYARD_RUN_DIR/spool/checkpoints"
       echo '${JSON.stringify(told)}' > "$TRAINYARD_RUN_DIR/spool/checkpoints/${checkpoint}.json"`,
    );
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect.soft(ended.sealed?.checkpoints).toMatchObject([{ checkpoint }]);
    const run = join(config.folder, "runs", folderNameOf(launch), "run");
    expect.soft(existsSync(join(run, "spool/checkpoints", `${checkpoint}.json`))).toBe(true);
    await agent.shutDownRuns();
    proxy.closeAllConnections();
    proxy.close();
  },
  30_000,
);

test("a checkpoint that is too large for a proxy does not keep the later ones from their delivery", async () => {
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const proxy = createServer(({ url = "", method = "GET", headers }, response) => {
    if (url.endsWith(`${checkpoint}/complete`)) {
      response.writeHead(413, { "content-type": "text/html" }).end("<h1>too large</h1>");
      return;
    }
    const { authorization = "" } = headers;
    const body = method === "POST" ? { body: JSON.stringify({ checkpoint: later }) } : {};
    fetch(`${platform.url}${url}`, { method, headers: { authorization }, ...body }).then(
      async (answer) => {
        const type = answer.headers.get("content-type") ?? "";
        response.writeHead(answer.status, { "content-type": type }).end(await answer.text());
      },
      () => response.destroy(),
    );
  });
  const config = await configBehind(proxy, platform);
  await using _agent = await startedAgent(config, hub.connect("agent-rack"));
  const spool = "$TRAINYARD_RUN_DIR/spool/checkpoints";
  const told = [checkpoint, later].map((id, index) => {
    const sealed = { sealedMs: index + 1, checkpoint: id, stepsCompleted: 1, manifest: [] };
    return `echo '${JSON.stringify({ ...sealed, metadata: {} })}' > "${spool}/${id}.json"`;
  });
  const launch = launchOf([`mkdir -p "${spool}"`, ...told].join("\n"));
  platform.run(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([later]), {
    timeout: 15_000,
  });
  proxy.closeAllConnections();
  proxy.close();
}, 30_000);
