import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { cutWhenStalled } from "./stalled-download.ts";

const stalledMs = 300;
const chunks = 64;
const bytesOf = function* () {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield Buffer.alloc(1024 * 1024);
};

test("a download ends when its client takes no byte for a time, and not while it reads slowly", async () => {
  const outcomes: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      using _held = cutWhenStalled(response, stalledMs);
      const sent = pipeline(Readable.from(bytesOf()), response);
      outcomes.push(`${request.url} ${await sent.then(() => "sent").catch(() => "cut")}`);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = async (path: string): Promise<IncomingMessage> => {
    const asked = get({ port, path, host: "127.0.0.1", agent: false });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer.on("error", () => {});
  };
  try {
    const stalled = await open("/stalled");
    const slow = await open("/slow");
    let read = 0;
    for await (const chunk of slow as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read % (8 * 1024 * 1024) < chunk.length) await setTimeout(stalledMs / 3);
    }
    expect(read).toBe(chunks * 1024 * 1024);
    await expect.poll(() => outcomes.toSorted()).toEqual(["/slow sent", "/stalled cut"]);
    stalled.destroy();
  } finally {
    server.close();
  }
});
