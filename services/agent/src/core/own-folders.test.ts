import { expect, test } from "vitest";
import { ownFoldersOf, shmBytes } from "./own-folders.ts";

const tmp = "/state/runs/1/tmp";
const own = { shm: 1_000, tmp };

test.each([
  ["train", { TRAINYARD_RUN_DIR: "/tmp/agent/runs/1/run" }],
  ["train", { PATH: "/usr/bin:/tmp/venv/bin" }],
  ["train", { TRAINYARD_CONFIG: '{"data":{"path":"/tmp/images"}}' }],
  ["train", { DATA: "file:///tmp/images" }],
  ["python train.py --data=/tmp/images", {}],
  ["cat /tmp/images", {}],
])("a run with the command %j and the variables %j keeps the host's /tmp", (script, variables) => {
  expect(ownFoldersOf(["sh", "-c", script], variables, own)).toEqual({ ...own, tmp: null });
});

test("a run that names a path below /dev/shm keeps the host's", () => {
  expect(ownFoldersOf(["cat", "/dev/shm/images"], {}, own)).toEqual({ shm: null, tmp });
});

test("a run that names no such path may have its own /tmp and /dev/shm", () => {
  const variables = { TMPDIR: "/tmp", HOME: "/var/tmp/x", DATA: "/srv/tmp/y", CACHE: "/tmp/" };
  const given = ownFoldersOf(["sh", "-c", "cd /tmp && ls /dev/shm"], variables, own);
  expect(given).toEqual(own);
});

test.each([
  [4, 8, 256],
  [0, 8, 64],
  [0, 0, 512],
  [8, 4, 512],
])(
  "the /dev/shm of a run with %i of %i slots has its part of half the memory",
  (slots, of, bytes) => {
    expect(shmBytes(1_024, slots, of)).toBe(bytes);
  },
);
