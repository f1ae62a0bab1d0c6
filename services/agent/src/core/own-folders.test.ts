import { expect, test } from "vitest";
import { ownFoldersOf } from "./own-folders.ts";

const tmp = "/state/runs/1/tmp";

test.each([
  ["train", { TRAINYARD_RUN_DIR: "/tmp/agent/runs/1/run" }],
  ["train", { PATH: "/usr/bin:/tmp/venv/bin" }],
  ["train", { TRAINYARD_CONFIG: '{"data":{"path":"/tmp/images"}}' }],
  ["train", { DATA: "file:///tmp/images" }],
  ["python train.py --data=/tmp/images", {}],
  ["cat /tmp/images", {}],
])("a run with the command %j and the variables %j keeps the host's /tmp", (script, variables) => {
  expect(ownFoldersOf(["sh", "-c", script], variables, tmp)).toEqual({ shm: true, tmp: null });
});

test("a run that names a path below /dev/shm keeps the host's", () => {
  expect(ownFoldersOf(["cat", "/dev/shm/images"], {}, tmp)).toEqual({ shm: false, tmp });
});

test("a run that names no such path may have its own /tmp and /dev/shm", () => {
  const variables = { TMPDIR: "/tmp", HOME: "/var/tmp/x", DATA: "/srv/tmp/y", CACHE: "/tmp/" };
  const own = ownFoldersOf(["sh", "-c", "cd /tmp && ls /dev/shm"], variables, tmp);
  expect(own).toEqual({ shm: true, tmp });
});
