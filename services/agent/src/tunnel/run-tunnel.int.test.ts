import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { Clock } from "@trainyard/kernel";
import { identityOf } from "@trainyard/kernel/process-identity";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { freePort } from "@trainyard/testing";
import type { Tunnel } from "@trainyard/tunnel";
import { afterAll, afterEach, expect, test } from "vitest";
import { PortUse } from "../idle/port-use.ts";
import { createService } from "../service.ts";
import { agentConfig } from "../testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { ScriptedPlatform } from "../testing/scripted-platform.ts";
import { startTunnelDoor, type TunnelDoor } from "../testing/tunnel-door.ts";
import { openRunTunnel } from "./run-tunnel.ts";

/** Waits take a fifth of their time. */
const quicker: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs(),
  timer: (afterMs, callback) => systemClock.timer(afterMs / 5, callback),
};

let stack = new AsyncDisposableStack();
afterEach(async () => {
  const used = stack;
  stack = new AsyncDisposableStack();
  await used.disposeAsync();
});
afterAll(removeFolders);

const proxied = (...ports: readonly number[]): Partial<Plain<Launch>> => ({
  proxyPorts: ports.map((port) => ({ port, isTcp: false })),
});

/** A program that answers each connection with a word, in a child of the process that a shell starts. */
const answering = (port: number, host = "127.0.0.1"): string =>
  `import socket
s = socket.create_server((${JSON.stringify(host)}, ${port}), family=socket.AF_INET${host.includes(":") ? "6" : ""})
print("up", flush=True)
while True:
    c, _ = s.accept()
    c.sendall(b"run")
    c.close()`;

async function startRun(program: string): Promise<ChildProcess> {
  const child = spawn("python3", ["-c", program], { stdio: ["ignore", "pipe", "inherit"] });
  stack.defer(() => void child.kill("SIGKILL"));
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

const use = { ready: true, inUse: true, idleSeconds: 0, idleTimeoutSeconds: 60, notice: "" };

type Opened = { readonly tunnel: () => Promise<Tunnel>; readonly door: TunnelDoor };

/** Opens the tunnel of a run that is one process. */
async function tunnelOf(launch: Plain<Launch>, pid: number, runDir = newFolder()): Promise<Opened> {
  const door = stack.use(await startTunnelDoor());
  stack.use(
    openRunTunnel({
      apiUrl: door.url,
      clock: quicker,
      events: { tunnelOpen: () => {}, tunnelAway: () => {} },
      folder: { launch, process: identityOf(pid), runDir },
      pids: () => new Set([pid]),
      ports: new PortUse(),
      use: () => use,
    }),
  );
  return { tunnel: async () => (await dialOf(door)).tunnel, door };
}

async function dialOf(door: TunnelDoor, index = 0) {
  await expect.poll(() => door.dials.length).toBeGreaterThan(index);
  const dial = door.dials[index];
  if (dial === undefined) throw new Error("there is a dial");
  return dial;
}

async function textOf(stream: Duplex): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

async function listen(port: number): Promise<Server> {
  const server = createServer((socket) => socket.end("somebody else"));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  stack.defer(() => void server.close());
  return server;
}

test.each(["127.0.0.1", "0.0.0.0", "::1"])(
  "a declared port is reached while a process of the run listens on %s",
  async (host) => {
    const port = await freePort();
    const { pid = 0 } = await startRun(answering(port, host));
    const { tunnel, door } = await tunnelOf(launchOf("", proxied(port)), pid);
    expect(await textOf(await (await tunnel()).open(`port-${port}`))).toBe("run");
    const [dial] = door.dials;
    expect(dial?.path).toMatch(/^\/api\/v1\/runs\/7\.\d+%231\/tunnel$/);
    expect(dial?.authorization).toBe("Bearer ty1.1.x.12.y");
  },
);

test("a port of another process of the host is refused, declared or not", async () => {
  const [foreign, undeclared, unused] = [await freePort(), await freePort(), await freePort()];
  await listen(foreign);
  await listen(undeclared);
  const { pid = 0 } = await startRun("print(flush=True)\nimport time\ntime.sleep(600)");
  const launch = launchOf("", proxied(foreign, unused));
  const { tunnel } = await tunnelOf(launch, pid);
  const refused = async (name: string) => expect((await tunnel()).open(name)).rejects;
  await (await refused(`port-${foreign}`)).toThrow(
    `a process that does not belong to run ${launch.allocation} listens on port ${foreign} of its host`,
  );
  await (await refused(`port-${undeclared}`)).toThrow(
    `port ${undeclared} is not in environment.proxy_ports of run ${launch.allocation}`,
  );
  await (await refused(`port-${unused}`)).toThrow(
    `no process of run ${launch.allocation} listens on port ${unused}`,
  );
  await (await refused("holder")).toMatchObject({ code: "no_target" });
});

test("a port that the run has given up is refused when another process listens on it", async () => {
  const port = await freePort();
  const child = await startRun(answering(port));
  const { tunnel } = await tunnelOf(launchOf("", proxied(port)), child.pid ?? 0);
  expect(await textOf(await (await tunnel()).open(`port-${port}`))).toBe("run");
  child.kill("SIGKILL");
  await once(child, "close");
  await listen(port);
  await expect((await tunnel()).open(`port-${port}`)).rejects.toMatchObject({
    code: expect.stringMatching(/^(foreign_process|nothing_listens)$/) as string,
  });
});

test("the holder of a task is reached by its socket, and its ports by proxy_ports", async () => {
  const runDir = newFolder();
  const holder = createServer((socket) => socket.pipe(socket)).listen(join(runDir, "holder.sock"));
  stack.defer(() => void holder.close());
  const task = { task: { id: "t1", kind: "shell", secret: "" } };
  const { tunnel } = await tunnelOf(launchOf("", task), process.pid, runDir);
  const stream = await (await tunnel()).open("holder");
  stream.end("typed");
  expect(await textOf(stream)).toBe("typed");
});

test("the page of a notebook is reached by its socket, and what the agent knows of its use", async () => {
  const runDir = newFolder();
  const page = createServer((socket) => socket.pipe(socket)).listen(join(runDir, "page.sock"));
  stack.defer(() => void page.close());
  const task = { task: { id: "t1", kind: "notebook", secret: "" } };
  const { tunnel } = await tunnelOf(launchOf("", task), process.pid, runDir);
  const stream = await (await tunnel()).open("page");
  stream.end("asked");
  expect(await textOf(stream)).toBe("asked");
  expect(JSON.parse(await textOf(await (await tunnel()).open("use")))).toMatchObject({
    ready: true,
    idleTimeoutSeconds: 60,
  });
  // The server removes its socket.
  page.close();
  symlinkSync("/run/another.sock", join(runDir, "page.sock"));
  await expect((await tunnel()).open("page")).rejects.toMatchObject({ code: "no_page" });
});

test("a shell has no page, and a trial has neither page nor use", async () => {
  const shell = await tunnelOf(
    launchOf("", { task: { id: "t1", kind: "shell", secret: "" } }),
    process.pid,
  );
  await expect((await shell.tunnel()).open("page")).rejects.toMatchObject({ code: "no_target" });
  const trial = await tunnelOf(launchOf("", proxied(1)), process.pid);
  await expect((await trial.tunnel()).open("use")).rejects.toMatchObject({ code: "no_target" });
});

test("a lost tunnel is dialled again after a random wait, and a run that ends closes its own", async () => {
  const { pid = 0 } = await startRun("print(flush=True)\nimport time\ntime.sleep(600)");
  const { door } = await tunnelOf(launchOf("", proxied(1)), pid);
  (await dialOf(door)).tunnel.close();
  const again = await dialOf(door, 1);
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
  await again.tunnel.closed;
  expect(door.dials).toHaveLength(2);
});

test("the agent opens the tunnel of a run with proxy_ports while its processes live", async () => {
  const hub = createMemoryBus();
  const door = stack.use(await startTunnelDoor());
  const platform = stack.use(await ScriptedPlatform.start(hub.connect("platform"), "rack"));
  const config = agentConfig(platform.url, { TRAINYARD_API_URL: door.url });
  const [bus, logger] = [hub.connect("agent-rack"), createLogger("agent", "silent")];
  const agent = stack.use(await createService(config, { bus, logger, clock: systemClock }));
  await agent.start();
  const port = await freePort();
  const launch = launchOf(["python3", "-c", answering(port)], proxied(port));
  platform.run(launch);
  platform.run(launchOf("exec sleep 600"));
  const { tunnel } = await dialOf(door);
  const answer = () => tunnel.open(`port-${port}`).then(textOf, (error: unknown) => String(error));
  await expect.poll(answer).toBe("run");
  await agent.shutDownRuns();
  await tunnel.closed;
  expect(door.dials).toHaveLength(1);
});
