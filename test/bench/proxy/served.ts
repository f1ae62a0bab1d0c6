/** A task that serves HTTP on a declared port. */
import { randomUUID } from "node:crypto";
import type { Client } from "@trainyard/client";

/**
 * GET /N answers with N bytes, and a WebSocket gets its messages back. Another request is answered by nothing, and its
 * connection stays open.
 */
const program = (port: number): string => `
import asyncio, base64, hashlib

PIECE = bytes(1 << 20)

async def serve(reader, writer):
    keeps = True
    while keeps and (line := await reader.readline()):
        headers = {}
        while header := (await reader.readline()).strip():
            name, _, value = header.partition(b":")
            headers[name.lower()] = value.strip()
        if b"upgrade" in headers:
            return await echo(reader, writer, headers[b"sec-websocket-key"])
        left = line.split()[1][1:]
        if not left.isdigit():
            await reader.read()
            return
        left = int(left)
        keeps = headers.get(b"connection") != b"close"
        writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n" % left)
        while left > 0:
            writer.write(PIECE[:left])
            left -= len(PIECE)
            await writer.drain()
    writer.close()

async def echo(reader, writer, key):
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    writer.write(b"HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n")
    writer.write(b"sec-websocket-accept: %s\\r\\n\\r\\n" % accept)
    while True:
        kind, length = await reader.readexactly(2)
        mask = await reader.readexactly(4)
        data = await reader.readexactly(length & 127)
        # A ping is answered with a pong.
        writer.write(bytes([0x8A if kind == 0x89 else kind, len(data)]))
        writer.write(bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

async def quiet(reader, writer):
    try:
        await serve(reader, writer)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()

async def main():
    server = await asyncio.start_server(quiet, "127.0.0.1", ${port}, backlog=2048)
    print("serving", flush=True)
    await server.serve_forever()

asyncio.run(main())
`;

export type Served = AsyncDisposable & { readonly task: string };

export async function serveByTask(client: Client, port: number): Promise<Served> {
  const signal = AbortSignal.timeout(120_000);
  const config = `environment: { proxy_ports: [{ proxy_port: ${port} }] }
resources: { slots: 1 }
`;
  const asked = { kind: "command", config, command: ["python3", "-c", program(port)] };
  const { task } = await client.call("createTask", asked, { idempotencyKey: randomUUID(), signal });
  const id = task?.id ?? "";
  for await (const { message } of client.stream("followTaskLogs", { task: id }, { signal })) {
    if (message.text.includes("serving")) break;
  }
  return {
    task: id,
    async [Symbol.asyncDispose]() {
      await client.call("killTask", { task: id }, { idempotencyKey: randomUUID() });
    },
  };
}
