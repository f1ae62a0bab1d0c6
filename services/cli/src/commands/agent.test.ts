/** The commands about agents, against a gateway that the test plays. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = join(import.meta.dirname, "..", "main.ts");
const gibibyte = 1024 ** 3;

let server: Server;

const gpu = (id: string, more: object = {}) => ({
  id,
  device: "cuda",
  name: "NVIDIA A100-SXM4-80GB",
  memoryBytes: 80 * gibibyte,
  ...more,
});
const agents = [
  {
    name: "gpus",
    pool: "default",
    state: "CONNECTED",
    slots: [
      gpu("GPU-aaaaaaaa", { run: "1.1#1" }),
      gpu("GPU-bbbbbbbb"),
      gpu("GPU-cccccccc", { run: "1.2#1", withdrawn: true }),
    ],
  },
  {
    name: "older",
    pool: "default",
    state: "CONNECTED",
    slots: [{ id: "0", device: "cpu" }],
  },
];

beforeEach(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ items: agents }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** The lines of its output, each as its words. */
async function yard(...args: readonly string[]): Promise<readonly string[]> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { PATH, TY_TEST_RUN } = process.env;
  const env = { PATH, TY_TEST_RUN, TRAINYARD_URL: url, TRAINYARD_TOKEN: "t" };
  const child = spawn(process.execPath, [main, "agent", ...args], { env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out.split("\n").map((line) => line.trim().replaceAll(/ +/g, " "));
}

test("the list has the devices that each agent offers, by kind, name and memory", async () => {
  expect(await yard("list")).toEqual(
    expect.arrayContaining([
      "AGENT POOL STATE SLOTS DEVICES FREE",
      "gpus default CONNECTED 2 2 cuda (NVIDIA A100-SXM4-80GB, 80 GiB) 1",
      "older default CONNECTED 1 1 cpu 1",
    ]),
  );
});

test("an agent is described with name and memory of each slot, and with a run whose slot is withdrawn", async () => {
  const name = "NVIDIA A100-SXM4-80GB";
  expect(await yard("describe", "gpus")).toEqual(
    expect.arrayContaining([
      "SLOT DEVICE NAME MEMORY RUN",
      `GPU-aaaaaaaa cuda ${name} 80 GiB 1.1#1`,
      `GPU-bbbbbbbb cuda ${name} 80 GiB`,
      `GPU-cccccccc cuda ${name} 80 GiB 1.2#1 not offered any more: the agent's log says why`,
    ]),
  );
});
