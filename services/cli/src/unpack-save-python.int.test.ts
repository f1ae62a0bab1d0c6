// A save that the SDK has packed on a run's host is unpacked by the command line: both know the format.
import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unpackSave } from "./unpack-save.ts";

const sdk = join(import.meta.dirname, "..", "..", "..", "libs", "sdk-python", "src");

const packSave = `
import json, os, random, sys
from pathlib import Path
from trainyard._work import _save
base = Path(sys.argv[1])
work = base / "work"
rng = random.Random(7)
for number in range(60):
    folder = work / "/".join(rng.choice("ab") for _ in range(rng.randrange(4)))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / rng.choice([f"f{number}", f"x:{number}", f" -{number} ", f"\u00fc{number}", f"=={number}"])
    file.write_bytes(rng.randbytes(rng.randrange(9_000)))
    file.chmod(rng.choice([0o400, 0o640, 0o755]))
    os.utime(file, (number, number))
os.symlink("/nowhere", work / "out")
os.symlink("..", work / "a" / "up")
(work / "empty").mkdir()
(work / "large\\n%").write_bytes(bytes(9 << 20))
(work / "a").chmod(0o555)
order = _save.Order(
    work=str(work), saves=str(base / "saves"), root=str(base / "saved"), store="", checkpoint="c",
    step=1_000_001, task="t1", run=1, bytes_max=1 << 30, files_max=1_000,
)
(base / "saves").mkdir()
print(json.dumps(_save.save(order)))
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "yard-saved-"));
  await mkdir(join(folder, "work"));
});
afterEach(() => {
  execFileSync("chmod", ["-R", "u+w", folder]);
  return rm(folder, { recursive: true, force: true });
});

/** Each entry of a folder with its kind, mode, time and size, or the target of a link. */
async function tree(root: string): Promise<Readonly<Record<string, unknown>>> {
  const names = await readdir(root, { recursive: true });
  const entries = names.toSorted().map(async (name) => {
    const path = join(root, name);
    const found = await lstat(path);
    if (found.isSymbolicLink()) return [name, await readlink(path)] as const;
    const { mode, mtime, size } = await stat(path);
    const about = found.isDirectory() ? {} : { size, seconds: Math.floor(mtime.getTime() / 1_000) };
    return [name, { mode, ...about }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test("a save of the SDK is unpacked as the folder was", async () => {
  const env = { ...process.env, PYTHONPATH: sdk, PYTHONDONTWRITEBYTECODE: "1" };
  const said = execFileSync("python3", ["-c", packSave, folder], { env, encoding: "utf8" });
  expect(JSON.parse(said)).toMatchObject({ kind: "saved", leftOut: [] });
  const packed = create({ gzip: true, cwd: join(folder, "saved", "c") }, ["."]);
  const body = new Blob([Buffer.concat(await Readable.from(packed).toArray())]).stream();
  await unpackSave(join(folder, "to"), body);
  const expected = await tree(join(folder, "work"));
  expect(Object.keys(expected).length).toBeGreaterThan(60);
  expect(await tree(join(folder, "to"))).toEqual(expected);
});
