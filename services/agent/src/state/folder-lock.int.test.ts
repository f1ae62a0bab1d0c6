import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { lockFolder } from "./folder-lock.ts";

afterAll(removeFolders);

test("two agents cannot use the same folder", async () => {
  const folder = newFolder();
  const held = await lockFolder(folder, systemClock, 0);
  await expect(lockFolder(folder, systemClock, 0)).rejects.toMatchObject({ code: "folder_in_use" });
  await held[Symbol.asyncDispose]();
  const again = await lockFolder(folder, systemClock, 0);
  await again[Symbol.asyncDispose]();
});
