import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { ManualClock } from "@trainyard/testing";
import { WebSocketDoor } from "@trainyard/tunnel";
import { expect, test, vi } from "vitest";
import { tunnelRoomLimits } from "./limits.ts";
import { peerDoor, Peers } from "./peers.ts";

test("each run has a tunnel of its own to another replica, which is closed when nobody uses it", async () => {
  const clock = new ManualClock();
  const keys = new Map([["1", createSecretKey(Buffer.alloc(32, 7))]]);
  const door = new WebSocketDoor();
  const route = peerDoor({ keys, clock }, async () => new PassThrough());
  const server = createServer();
  const links = new Set<unknown>();
  server.on("upgrade", (request, socket, head) => {
    links.add(socket);
    socket.once("close", () => links.delete(socket));
    void route.serve({
      request,
      parameters: [],
      caller: async () => Promise.reject(new Error("replicas are no callers")),
      gone: new AbortController().signal,
      accept: (options, opened) =>
        door.accept(request, socket, head, { ...options, clock }, opened),
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  using peers = new Peers({ keys, clock });
  const { signal } = new AbortController();
  const streams = await Promise.all(
    ["t1#1", "t1#1", "t2#1"].map((run) => peers.open(address, run, "holder", signal)),
  );
  expect(links.size).toBe(2);
  const [first, second, other] = streams;
  first?.destroy();
  other?.destroy();
  await vi.waitFor(() => expect([first?.closed, other?.closed]).toEqual([true, true]));
  await clock.advance(tunnelRoomLimits.peerIdleMs - 1);
  expect(links.size).toBe(2);
  await clock.advance(1);
  await vi.waitFor(() => expect(links.size).toBe(1));
  second?.write("still here");
  expect(String((await once(second ?? new PassThrough(), "data"))[0])).toBe("still here");
  second?.destroy();
  server.closeAllConnections();
  server.close();
});
