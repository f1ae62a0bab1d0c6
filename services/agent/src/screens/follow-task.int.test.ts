import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@trainyard/kernel/system-clock";
import { encodeFrame, frameTypes } from "@trainyard/terminal";
import { afterAll, expect, test, vi } from "vitest";
import { limits } from "../limits.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { followTask } from "./follow-task.ts";
import { ScreenPlaces } from "./screen-places.ts";

afterAll(removeFolders);

test("a program in place of a task's holder gets no more connections than a holder has terminals", async () => {
  const runDir = newFolder();
  const connections = new Set<Socket>();
  const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
  const terminals = encodeFrame(frameTypes.terminals, Buffer.from(JSON.stringify({ names })));
  const holder = createServer((socket) => {
    connections.add(socket.on("error", () => {}));
    socket.once("data", (hello) => {
      if (String(hello).includes("watch")) socket.write(terminals);
    });
  }).listen(join(runDir, "holder.sock"));
  await once(holder, "listening");
  const stop = new AbortController();
  const following = followTask(runDir, new ScreenPlaces(), systemClock, stop.signal);
  await sleep(500);
  expect(connections.size).toBe(1 + limits.screensOfTaskMax);
  stop.abort();
  await following;
  for (const one of connections) one.destroy();
  holder.close();
});

/** A holder with terminals, which write when the test says so. `followed` returns those that are followed now. */
async function startHolder(...names: string[]) {
  const runDir = newFolder();
  const followed = new Map<string, Socket>();
  const watch = Promise.withResolvers<Socket>();
  const tell = (socket: Socket) =>
    socket.write(encodeFrame(frameTypes.terminals, Buffer.from(JSON.stringify({ names }))));
  const holder = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", (hello) => {
        const name = /"name":"([a-z]+)"/.exec(String(hello))?.[1];
        if (name === undefined) return tell(socket) && watch.resolve(socket);
        followed.set(name, socket);
        socket.once("close", () => followed.delete(name));
      });
  }).listen(join(runDir, "holder.sock"));
  await once(holder, "listening");
  return {
    runDir,
    followed: () => [...followed.keys()].toSorted(),
    write: (name: string) =>
      followed.get(name)?.write(encodeFrame(frameTypes.output, Buffer.from("x"))),
    end: async (name: string) => {
      names.splice(names.indexOf(name), 1);
      tell(await watch.promise);
      followed.get(name)?.destroy();
    },
  };
}

test("of the terminals of all tasks, the one that was quiet for longest is not followed beyond the limit", async () => {
  const places = new ScreenPlaces(2);
  const stop = new AbortController();
  const one = await startHolder("quiet", "busy");
  const following = [followTask(one.runDir, places, systemClock, stop.signal)];
  await vi.waitFor(() => expect(one.followed()).toEqual(["busy", "quiet"]));
  one.write("quiet");
  await sleep(50);
  one.write("busy");
  await sleep(50);
  const other = await startHolder("later");
  following.push(followTask(other.runDir, places, systemClock, stop.signal));
  await vi.waitFor(() => expect(other.followed()).toEqual(["later"]));
  await vi.waitFor(() => expect(one.followed()).toEqual(["busy"]));
  await one.end("busy");
  await vi.waitFor(() => expect(one.followed()).toEqual(["quiet"]), 5_000);
  expect(other.followed()).toEqual(["later"]);
  stop.abort();
  await Promise.all(following);
});
