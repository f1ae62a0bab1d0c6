// Tests bin/yard, the command line as an installed program.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root } from "../root.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ty-yard-")));
});

afterEach(() => rmSync(folder, { recursive: true }));

function started(program: string, ...args: readonly string[]) {
  // Node is not in the PATH: the program uses the Node of its checkout.
  const env = { ...process.env, PATH: "/usr/bin:/bin", TRAINYARD_HOME: join(folder, "home") };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

it("runs from another folder through a symlink, with paths of that folder and the exit code of the command", () => {
  symlinkSync(join(root, "bin/yard"), join(folder, "linked"));
  symlinkSync("linked", join(folder, "yard"));
  writeFileSync(join(folder, "search.yaml"), "entrypoint: [1]\n");
  const version = started("./yard", "--version");
  expect(version).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  const refused = started(join(folder, "yard"), "experiment", "validate", "search.yaml");
  expect(refused).toMatchObject({ status: 2, stdout: "" });
  expect(refused.stderr).toContain("entrypoint");
  const missing = started(join(folder, "yard"), "experiment", "validate", "no such.yaml");
  expect(missing).toMatchObject({ status: 2, stdout: "" });
});

it("leaves installing to the entry of npm when packages are missing or old", () => {
  const checkout = join(folder, "a checkout");
  for (const path of ["bin", "scripts", "node_modules"])
    mkdirSync(join(checkout, path), { recursive: true });
  cpSync(join(root, "bin/yard"), join(checkout, "bin/yard"));
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"])
    writeFileSync(join(checkout, path), path);
  const entry = "console.log(process.env.INIT_CWD, ...process.argv.slice(2)); process.exit(3);";
  writeFileSync(join(checkout, "scripts/bootstrap.mjs"), entry);
  const call = () => {
    const env = { ...process.env, PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` };
    return spawnSync(join(checkout, "bin/yard"), ["a b", "-o", "json"], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
  };
  const handedOver = { status: 3, stdout: `${folder} yard a b -o json\n`, stderr: "" };
  expect(call()).toMatchObject(handedOver);
  writeFileSync(join(checkout, "node_modules/.trainyard-installed"), "of older packages");
  expect(call()).toMatchObject(handedOver);
});
