/** The files of a TensorBoard on an agent, with real processes. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { AgentStage } from "../testing/agent-stage.ts";
import { removeFolders, taskOf } from "../testing/examples.ts";
import { fakeServer, pathWithServer } from "../testing/page-servers.ts";

afterAll(removeFolders);
const patient = { timeout: 60_000, interval: 20 };

test("the run of a TensorBoard finds its trials' files in its log folder, and people read which experiment has none", async () => {
  await using stage = await AgentStage.start();
  const { boards } = stage.platform;
  boards.set("12.1", { "a/events.tfevents.1": "points" });
  boards.set("13.4", {});
  const launch = taskOf("tensorboard", "", {
    environmentVariables: [pathWithServer(fakeServer)],
  });
  stage.platform.run(launch);
  const folder = join(stage.folderOf(launch), "tensorboard");
  const copy = join(folder, "12/12.1/a/events.tfevents.1");
  await vi.waitFor(() => expect(readFileSync(copy, "utf8")).toBe("points"), patient);
  expect([statSync(folder).mode & 0o777, statSync(copy).mode & 0o777]).toEqual([0o755, 0o644]);
  const line =
    "experiment 13 has no TensorBoard files yet: they appear here when its trials write some";
  await vi.waitFor(() => expect(stage.platform.texts(launch)).toContain(line), patient);
  // The next agent continues from the copies.
  await stage.stopAgent();
  writeFileSync(copy, "poi");
  await stage.startAgent();
  await vi.waitFor(() => expect(readFileSync(copy, "utf8")).toBe("points"), patient);
});
