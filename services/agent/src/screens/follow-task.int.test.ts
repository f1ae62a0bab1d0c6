import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@trainyard/kernel/system-clock";
import { encodeFrame, frameTypes } from "@trainyard/terminal";
import { afterAll, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { followTask } from "./follow-task.ts";

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
  const following = followTask(runDir, systemClock, stop.signal);
  await sleep(500);
  expect(connections.size).toBe(1 + limits.screensOfTaskMax);
  stop.abort();
  await following;
  for (const one of connections) one.destroy();
  holder.close();
});
