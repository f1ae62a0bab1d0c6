import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { expect, test } from "vitest";
import { PodNetwork } from "./pod-network.ts";
import { networkProblem } from "./index.ts";

const exists = (bridge: string): boolean => spawnSync("ip", ["link", "show", bridge]).status === 0;

test("a network leaves nothing on the host, and the next one removes that of a killed process", async ({
  skip,
}) => {
  const problem = networkProblem();
  if (problem !== null) notRun(skip, problem);
  const main = join(import.meta.dirname, "testing", "network-main.ts");
  const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const left = JSON.parse(line.toString()) as { bridge: string; path: string };
  const network = await PodNetwork.open();
  const { path } = await network.addPod();
  // A network whose process runs is left alone.
  expect([exists(left.bridge), existsSync(left.path)]).toEqual([true, true]);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  const next = await PodNetwork.open();
  expect([exists(left.bridge), existsSync(left.path)]).toEqual([false, false]);
  expect([exists(network.bridge), existsSync(path)]).toEqual([true, true]);
  await next.close();
  await network.close();
  expect([exists(next.bridge), exists(network.bridge), existsSync(path)]).toEqual([
    false,
    false,
    false,
  ]);
});

test("a process listens on an address of a Service without making it first", async ({ skip }) => {
  const problem = networkProblem();
  if (problem !== null) notRun(skip, problem);
  const network = await PodNetwork.open();
  const server = createServer((socket) => socket.end("here"));
  try {
    const host = network.takeServiceAddress();
    server.listen({ host, port: 80 });
    await once(server, "listening");
    const [said] = (await once(connect({ host, port: 80 }), "data")) as [Buffer];
    expect(said.toString()).toBe("here");
    expect(network.takeServiceAddress()).not.toBe(host);
  } finally {
    server.close();
    await network.close();
  }
});
