/** Requests over a connection of their own. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

/** Opens a connection to the server that is measured. */
export type Open = () => Promise<Duplex>;

/** Returns the seconds of a request for this number of bytes, with its connection. */
export async function secondsOfStream(open: Open, bytes: number): Promise<number> {
  const start = performance.now();
  const stream = await open();
  stream.write(`GET /${bytes} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  let got = 0;
  for await (const chunk of stream) {
    got += (chunk as Buffer).length;
    if (got >= bytes + 38) break;
  }
  stream.on("error", () => {}).destroy();
  if (got < bytes) throw new Error(`${got} of ${bytes} bytes arrived`);
  return (performance.now() - start) / 1_000;
}

export async function connected(port: number): Promise<Duplex> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}
