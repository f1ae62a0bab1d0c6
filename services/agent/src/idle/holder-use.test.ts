import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { toHolder } from "@trainyard/terminal";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { askHolder } from "./holder-use.ts";

afterAll(removeFolders);

test("a holder that writes for ever is not read for ever", async () => {
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
