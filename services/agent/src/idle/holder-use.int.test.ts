import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { toHolder } from "@trainyard/terminal";
import { afterAll, expect, test } from "vitest";
import { AgentStage } from "../testing/agent-stage.ts";
import { newFolder, removeFolders, taskOf } from "../testing/examples.ts";
import { HolderClient } from "../testing/holder-client.ts";
import { askHolder } from "./holder-use.ts";

afterAll(removeFolders);

const longMs = 60_000;

test("a shell is used by what is typed and written, by programs too, and not by a screen that is drawn again", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = taskOf("shell", "", { environmentVariables: ["SHELL=/bin/sh"] });
  platform.run(launch);
  await platform.up(launch);
  const runDir = join(stage.folderOf(launch), "run");
  using watcher = await HolderClient.open(runDir, { open: "watch" });
  await expect.poll(() => watcher.of("terminals").length).toBe(1);
  const ask = () => askHolder(runDir, AbortSignal.timeout(longMs));
  /** Returns whether the task was used while this ran, by the times that the holder says. */
  const isUsedBy = async (act: () => Promise<unknown>) => {
    const beganMs = performance.now();
    await act();
    const agoMs = (await ask()) ?? Number.POSITIVE_INFINITY;
    return agoMs < performance.now() - beganMs;
  };
  expect(await ask()).toBeNull();

  const hello = { open: "terminal", name: "main", columns: 80, rows: 24 } as const;
  using viewer = await HolderClient.open(runDir, hello);
  await viewer.until(/[#$] $/);
  const typed = "trap 'echo drawn again' WINCH; echo re''ady; while :; do sleep 0.05; done\r";
  expect(await isUsedBy(async () => (viewer.type(typed), await viewer.until("ready")))).toBe(true);
  const redraw = async () => {
    viewer.write(toHolder.size({ columns: 100, rows: 30 }));
    await viewer.until("drawn again");
  };
  expect(await isUsedBy(redraw)).toBe(false);
  const execute = async () => {
    const run = { open: "exec", command: ["echo", "run"] } as const;
    using program = await HolderClient.open(runDir, run);
    await program.ended();
  };
  expect(await isUsedBy(execute)).toBe(true);
  viewer.type("\x03exit\r");
  await viewer.ended();
});

test("a holder that writes forever is not read forever", async () => {
  const folder = newFolder();
  const frames = Buffer.concat(
    Array.from({ length: 1_000 }, () => toHolder.size({ columns: 80, rows: 24 })),
  );
  await using server = createServer((socket) => {
    const flood = (): void => {
      while (socket.write(frames));
    };
    socket.on("drain", flood).on("error", () => undefined);
    flood();
  });
  server.listen(join(folder, "holder.sock"));
  await once(server, "listening");
  await expect(askHolder(folder, AbortSignal.timeout(20_000))).rejects.toThrow("too large");
});
