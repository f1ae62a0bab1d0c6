import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { runKeyOf } from "@trainyard/contracts/agent";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { exitMessageCharsMax } from "../core/records.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { folderNameOf, keyOfFolder, names } from "./layout.ts";
import { RunFolder } from "./run-folder.ts";

afterAll(removeFolders);

test("the message of an end that the agent records is shortened to fit the space reserved on a full disk", () => {
  const folder = RunFolder.create(newFolder(), launchOf("unused"), systemClock);
  const message = "\u0001".repeat(1024 * 1024);
  folder.recordExit({ kind: "not_launched", code: null, signal: null, message });
  expect(folder.exit?.message).toHaveLength(exitMessageCharsMax);
  expect(statSync(join(folder.path, names.exit)).size).toBeLessThanOrEqual(4_096);
});

test("the key of a run is read from the name of its folder, and any other name has one", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string(), (allocation, requestId) => {
      const run = { allocation, requestId };
      expect(keyOfFolder(folderNameOf(run))).toBe(runKeyOf(run));
    }),
  );
  expect(keyOfFolder("lost+found")).toBe("lost+found");
});
