/** Tasks that nobody uses, with real processes: when they end, and what keeps them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import { AllocationReportState, type Launch } from "@trainyard/contracts/agent";
import type { TaskUse } from "@trainyard/contracts/api";
import { EndReason } from "@trainyard/contracts/events";
import { freePort } from "@trainyard/testing";
import { afterAll, expect, test } from "vitest";
import { AgentStage } from "../testing/agent-stage.ts";
import { removeFolders, taskOf } from "../testing/examples.ts";
import { startTunnelDoor } from "../testing/tunnel-door.ts";

afterAll(removeFolders);
const patient = { timeout: 60_000, interval: 50 };
const timeoutSeconds = 2;

function idleTask(
  kind: "command" | "shell",
  entrypoint: string | readonly string[],
  ports: readonly number[] = [],
): Plain<Launch> {
  const launch = taskOf(kind, entrypoint, {
    proxyPorts: ports.map((port) => ({ port, isTcp: false })),
  });
  const { id = "", secret = "" } = launch.task ?? {};
  return { ...launch, task: { id, kind, secret, idleTimeoutSeconds: timeoutSeconds } };
}

const server = (port: number): readonly string[] => {
  const options = ["--bind", "127.0.0.1", String(port)];
  return ["python3", "-u", "-m", "http.server", ...options];
};

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += piece.toString("utf8");
  return text;
}

test("a served command and a shell that nobody uses end with the reason, also after a restart of their agent, and those in use stay", async () => {
  await using door = await startTunnelDoor();
  await using stage = await AgentStage.start({ variables: { TRAINYARD_API_URL: door.url } });
  const { platform } = stage;
  const [port, usedPort] = [await freePort(), await freePort()];
  const unused = idleTask("command", server(port), [port]);
  const shell = idleTask("shell", "");
  const used = idleTask("command", server(usedPort), [usedPort]);
  const work = idleTask("command", "exec sleep 600");
  const all = [unused, shell, used, work];
  for (const launch of all) platform.run(launch);
  await Promise.all(all.map((launch) => platform.up(launch)));
  const upMs = performance.now();

  const open = async (launch: Plain<Launch>, target: string): Promise<string> => {
    const path = encodeURIComponent(launch.allocation);
    const dial = door.dials.findLast((one) => one.path.includes(path));
    const stream = await dial?.tunnel.open(target);
    if (stream === undefined) return "";
    stream.end("GET / HTTP/1.0\r\n\r\n");
    return textOf(stream);
  };
  const useOf = async (launch: Plain<Launch>): Promise<TaskUse> =>
    JSON.parse(await open(launch, "use")) as TaskUse;
  const ask = () => open(used, `port-${usedPort}`).catch(() => "");
  await expect.poll(ask, patient).toContain("200 OK");
  const asked = setInterval(() => void ask(), 200);
  using _asked = { [Symbol.dispose]: () => clearInterval(asked) };

  const hasRecord = () => existsSync(join(stage.folderOf(unused), "idle.json"));
  await expect.poll(hasRecord, patient).toBe(true);
  await stage.stopAgent();
  await stage.startAgent();
  const reason = `nobody used it for ${timeoutSeconds} seconds`;
  for (const launch of [unused, shell]) {
    const { endRecord, killed } = await platform.ended(launch);
    expect([endRecord, killed]).toEqual([{ reason: EndReason.IDLE, message: reason }, false]);
    expect(platform.texts(launch)).toContain(reason);
  }
  expect(performance.now() - upMs).toBeGreaterThan(timeoutSeconds * 1_000 - 500);

  const stateOf = ({ allocation }: Plain<Launch>) =>
    platform.report?.allocations.find((one) => one.allocation === allocation)?.state;
  const running = AllocationReportState.RUNNING;
  expect([used, work].map(stateOf)).toEqual([running, running]);
  const fields = { ready: true, inUse: true, idleTimeoutSeconds: timeoutSeconds };
  await expect.poll(() => useOf(used).catch(() => null), patient).toMatchObject(fields);
  expect(await useOf(work)).toEqual({ ready: true, inUse: true });
  clearInterval(asked);
  expect((await platform.ended(used)).endRecord?.reason).toBe(EndReason.IDLE);
});
