import { createServer, request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { taskPageLimits } from "./limits.ts";
import { TunnelAgent } from "./tunnel-agent.ts";

const { idleConnectionMs } = taskPageLimits;

test("a connection to a task's server is kept for the next request, and closed when it was idle for a minute", async () => {
  const clock = new ManualClock();
  const server = createServer((_asked, response) => response.end("page"));
  server.keepAliveTimeout = 0;
  const opened: Duplex[] = [];
  const open = async (): Promise<Duplex> => {
    const [near, far] = duplexPair();
    server.emit("connection", far);
    opened.push(near);
    return near;
  };
  const agent = new TunnelAgent(open, clock, true);
  const page = async (): Promise<string> => {
    const asked = request({
      ...TunnelAgent.optionsFor("t1#1", { kind: "port", port: 80 }),
      agent,
    }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const page = await text(answer);
    // The connection is free after the end of the answer.
    await new Promise(setImmediate);
    return page;
  };
  expect(await page()).toBe("page");
  await clock.advance(idleConnectionMs - 1);
  expect(await page()).toBe("page");
  await clock.advance(idleConnectionMs - 1);
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([false]);
  await clock.advance(1);
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(await page()).toBe("page");
  expect(opened).toHaveLength(2);
});
