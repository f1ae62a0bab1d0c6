/** The agent with an engine that refuses requests: a server that answers as the test says. */
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { pythonIn } from "../supervisor/python.ts";
import { containerRuntime } from "./containers.ts";

afterAll(removeFolders);

test("a container that cannot be removed delays no other, and the engine's message is shortened", async () => {
  const there = new Set(["first", "stuck", "last"]);
  const server = createServer((request, response) => {
    const id = /^\/containers\/(\w+)\?/.exec(request.url ?? "")?.[1] ?? "";
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      response.end(JSON.stringify([...there].map((Id) => ({ Id, Labels: {} }))));
    } else if (id === "stuck") {
      response.writeHead(500).end(JSON.stringify({ message: `busy ${"x".repeat(1_000_000)}` }));
    } else {
      there.delete(id);
      response.writeHead(204).end();
    }
  });
  const socket = join(newFolder(), "engine.sock");
  server.listen(socket);
  await once(server, "listening");
  const limited = {
    image: "",
    network: "host",
    memoryBytes: null,
    pids: null,
    cpus: null,
    ulimits: [],
  };
  const named = { user: "0:0", authFile: "", pullTimeoutMs: 60_000, apiUrl: "" };
  const runtime = containerRuntime({
    ...limited,
    ...named,
    engine: "docker",
    socket,
    agent: "rack",
    folder: "f",
    access: { paths: [], devices: [], capabilities: [] },
    metricsUrl: "",
    sdkPath: null,
    python: pythonIn(),
    checkpointDir: "",
    clock: systemClock,
  });
  try {
    const problem = await runtime.sweep(() => new Set()).catch(String);
    expect([...there]).toEqual(["stuck"]);
    expect(problem).toMatch(/^Error: 1 containers were not removed: busy x/);
    expect(String(problem).length).toBeLessThan(limits.saidCharsMax + 100);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
