import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { TunnelAgent } from "./tunnel-agent.ts";

test("the head and the body of a request arrive through HTTP/2 as they were sent", async () => {
  const whole: string[] = [];
  const server = createServer();
  server.on("stream", (stream) => {
    stream.respond();
    void text(stream).then((sent) => {
      whole.push(sent.split("\r\n")[0] ?? "");
      stream.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const session = connect(`http://127.0.0.1:${port}`);
  const open = async (): Promise<Duplex> => {
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    await once(stream, "response");
    return stream;
  };
  const agent = new TunnelAgent(open, new ManualClock(), false);
  const place = TunnelAgent.optionsFor("t1#1", { kind: "port", port: 80 });
  for (let at = 0; at < 10; at += 1) {
    const headers = ["Host", "t1", "Content-Length", "4", "X-Long", "x".repeat(300)];
    const asked = request({ ...place, agent, method: "PUT", path: `/${at}`, headers });
    asked.on("error", () => {});
    asked.write(Buffer.from("body"));
    asked.end();
    const [stream] = (await once(asked, "socket")) as [Duplex];
    const closed = once(stream, "close");
    if (!asked.writableFinished) await once(asked, "finish");
    stream.end();
    await closed;
  }
  session.close();
  server.close();
  expect(whole).toEqual(Array.from({ length: 10 }, (_, at) => `PUT /${at} HTTP/1.1`));
});
