import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import fastify from "fastify";
import { expect, test } from "vitest";
import { cutStalledAnswers } from "./stalled-answers.ts";

const stalledMs = 300;
const chunks = 64;
const bytesOf = function* () {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield Buffer.alloc(1024 * 1024);
};

test("an answer ends when its client takes no byte for a time, and not while it reads slowly", async () => {
  const outcomes: string[] = [];
  await using server = fastify({ forceCloseConnections: true });
  cutStalledAnswers(server, stalledMs);
  server.addHook("onRequest", async ({ url }, { raw }) => {
    raw.once("close", () => outcomes.push(`${url} ${raw.writableFinished ? "sent" : "cut"}`));
  });
  server.get("/download", (_, reply) => reply.send(Readable.from(bytesOf())));
  server.get("/whole", (_, reply) => reply.send(Buffer.concat([...bytesOf()])));
  server.get("/small", (_, reply) => reply.send("small"));
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = async (path: string, over: Agent | false = false): Promise<IncomingMessage> => {
    const asked = get({ port, path, host: "127.0.0.1", agent: over });
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer.on("error", () => {});
  };
  const stalled = [await open("/download?stalled"), await open("/whole?stalled")];
  for (const path of ["/download?slow", "/whole?slow"]) {
    let read = 0;
    for await (const chunk of (await open(path)) as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read % (8 * 1024 * 1024) < chunk.length) await setTimeout(stalledMs / 3);
    }
    expect(read).toBe(chunks * 1024 * 1024);
  }
  await once((await open("/small?1", agent)).resume(), "end");
  // A connection that waits for its next request does not count as stalled.
  await setTimeout(2 * stalledMs);
  const again = await open("/small?2", agent);
  expect(again.headers.connection).toBe("keep-alive");
  await once(again.resume(), "end");
  agent.destroy();
  const ends = ["/download?slow sent", "/download?stalled cut", "/small?1 sent", "/small?2 sent"];
  await expect
    .poll(() => outcomes.toSorted())
    .toEqual([...ends, "/whole?slow sent", "/whole?stalled cut"]);
  for (const answer of stalled) answer.destroy();
});
