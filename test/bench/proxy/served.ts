/** A trial that serves HTTP on a declared port of its run. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@trainyard/client";

/** GET /N answers with N bytes. Another request is answered by nothing, and its connection stays open. */
const program = (port: number): string => `
import asyncio

PIECE = bytes(1 << 20)

async def serve(reader, writer):
    line = await reader.readline()
    while (await reader.readline()).strip():
        pass
    left = line.split()[1][1:]
    if not left.isdigit():
        await reader.read()
        return
    left = int(left)
    writer.write(b"HTTP/1.1 200 OK\\r\\nconnection: close\\r\\ncontent-length: %d\\r\\n\\r\\n" % left)
    while left > 0:
        writer.write(PIECE[:left])
        left -= len(PIECE)
        await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", ${port}, backlog=2048)
    print("serving", flush=True)
    await server.serve_forever()

asyncio.run(main())
`;

export type Served = AsyncDisposable & { readonly trial: string };

export async function serveByTrial(client: Client, port: number): Promise<Served> {
  const signal = AbortSignal.timeout(120_000);
  const config = `name: bench-proxy
entrypoint: python3 main.py
searcher: { name: single, metric: loss }
resources: { slots_per_trial: 1 }
environment: { proxy_ports: [{ proxy_port: ${port} }] }
max_restarts: 0
`;
  const folder = mkdtempSync(join(tmpdir(), "trainyard-proxy-"));
  writeFileSync(join(folder, "main.py"), program(port));
  const { stdout: context } = await promisify(execFile)(
    "tar",
    ["-czf", "-", "-C", folder, "main.py"],
    { encoding: "buffer" },
  );
  rmSync(folder, { recursive: true, force: true });
  const idempotencyKey = randomUUID();
  const { experiment } = await client.call(
    "createExperiment",
    { config, context },
    { idempotencyKey, signal },
  );
  const id = experiment?.id ?? "";
  for await (const { message } of client.stream(
    "followExperimentLogs",
    { experiment: id },
    { signal },
  )) {
    if (message.text.includes("serving")) break;
  }
  return {
    trial: `${id}.1`,
    async [Symbol.asyncDispose]() {
      await client.call("killExperiment", { experiment: id }, { idempotencyKey: randomUUID() });
    },
  };
}
