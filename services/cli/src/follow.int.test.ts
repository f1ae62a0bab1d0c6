/** Tests of waiting for the end of an experiment, with a simulated gateway and virtual time. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, Unreachable } from "@trainyard/client";
import type { Clock } from "@trainyard/kernel";
import { QuickClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { waitForEnd } from "./follow.ts";

const anHourMs = 3_600_000;

async function serve(
  listener: RequestListener,
  clock: Clock,
): Promise<AsyncDisposable & { client: Client }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client: new Client({ url: `http://127.0.0.1:${port}`, token: "t", clock }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves a gateway that does not answer until a time, and then has a completed experiment. */
const awayUntil = (endMs: number) => {
  const clock = new QuickClock();
  return serve((request, response) => {
    if (clock.monotonicMs() < endMs) response.destroy();
    else if (request.url?.includes("/trials") === true) response.end('{"position":"7"}');
    else response.end('{"id":"3","state":"COMPLETED"}');
  }, clock);
};

test("a wait that begins while the gateway is away outlasts a minute, and says once that it has no answer", async () => {
  await using server = await awayUntil(60_000);
  const said: string[] = [];
  const { signal } = new AbortController();
  const ended = await waitForEnd(server.client, "3", signal, { onAway: (why) => said.push(why) });
  expect(ended?.state).toBe("COMPLETED");
  expect(said).toEqual([expect.stringContaining("no answer from http://127.0.0.1")]);
});

test("a wait without any answer fails", async () => {
  await using server = await awayUntil(anHourMs);
  const { signal } = new AbortController();
  await expect(waitForEnd(server.client, "3", signal)).rejects.toThrow(Unreachable);
});

test("Ctrl-C ends a wait that has had no answer", async () => {
  await using server = await awayUntil(anHourMs);
  const detached = new AbortController();
  const onAway = () => detached.abort();
  expect(await waitForEnd(server.client, "3", detached.signal, { onAway })).toBeNull();
});
