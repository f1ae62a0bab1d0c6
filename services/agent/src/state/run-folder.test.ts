import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test } from "vitest";
import { exitMessageCharsMax } from "../core/records.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { names } from "./layout.ts";
import { RunFolder } from "./run-folder.ts";

afterAll(removeFolders);

test("the message of an end that the agent records is shortened to fit the space reserved on a full disk", () => {
  const folder = RunFolder.create(newFolder(), launchOf("unused"), systemClock);
  const message = "\u0001".repeat(1024 * 1024);
  folder.recordExit({ kind: "not_launched", code: null, signal: null, message });
  expect(folder.exit?.message).toHaveLength(exitMessageCharsMax);
  expect(statSync(join(folder.path, names.exit)).size).toBeLessThanOrEqual(4_096);
});
