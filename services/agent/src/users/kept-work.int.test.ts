/** The folder of a task with a user of its own: only that user saves it, reads it and gets it back. */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { AgentStage } from "../testing/agent-stage.ts";
import { configured, removeFolders, taskOf } from "../testing/examples.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });

beforeEach(({ skip }) => {
  if (process.getuid?.() !== 0) notRun(skip, "root, who may give files to other users");
});

test("a task with a user of its own has its folder saved and restored by that user, and others read no save", async () => {
  await using stage = await AgentStage.start({
    variables: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      TRAINYARD_AGENT_USER_IDS: "1900000000-1900000099",
      TRAINYARD_AGENT_TASK_USER_IDS: "2000000000-2000000099",
    },
  });
  const { platform, checkpoints } = stage;
  chmodSync(checkpoints, 0o1777);
  const script =
    "id -u; echo mine > notes; chmod 0 notes; mkdir closed; echo in > closed/x; chmod 0 closed";
  const launch = taskOf("command", script, configured({ keep_work: true }));
  const uid = 2_000_000_000 + Number(launch.task?.id.slice(1));
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect([platform.texts(launch), ended.unsaved]).toEqual([[String(uid)], undefined]);
  const [latestCheckpoint = ""] = platform.checkpoints.keys();
  const save = join(checkpoints, latestCheckpoint);
  for (const path of [save, ...readdirSync(save).map((name) => join(save, name))]) {
    const { uid: owner, mode } = lstatSync(path);
    expect([owner, mode & 0o007]).toEqual([uid, 0]);
  }
  const entrypoint = {
    case: "shell",
    value: "stat -c %a notes closed; chmod 700 notes closed; cat notes closed/x; stat -c %u notes",
  } as const;
  const allocation = `${launch.task?.id}#2`;
  const next = { ...launch, run: 2, allocation, entrypoint, latestCheckpoint };
  platform.run(next);
  await platform.ended(next);
  expect(platform.texts(next).slice(1)).toEqual(["0", "0", "mine", "in", String(uid)]);
});
