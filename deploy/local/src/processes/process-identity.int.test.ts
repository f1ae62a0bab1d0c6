import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { allProcesses, identityOf, isAlive } from "./process-identity.ts";

test("a process is recognised until it ends, and a later process with the same pid is not", async () => {
  const child = spawn("sleep", ["1000"]);
  const identity = identityOf(child.pid ?? 0);
  if (identity === null) throw new Error("the child was not found");
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, started: `${identity.started}0` })).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isAlive(identity)).toBe(false);
});

test("a process that ended and was not reaped counts as dead", async () => {
  // The shell starts a child that ends at once and never waits for it: the child stays as a zombie.
  const shell = spawn("sh", ["-c", "sh -c 'echo $$' & exec sleep 1000"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(shell.stdout, "data")) as [Buffer];
  const child = Number(line.toString());
  await expect.poll(() => identityOf(child)).toBeNull();
  shell.kill("SIGKILL");
  await once(shell, "exit");
});

test("the start arguments and the environment of a process can be read", async () => {
  const child = spawn("sleep", ["1000"], {
    env: { TY_TEST_RUN: process.env["TY_TEST_RUN"], MARK: "a mark" },
  });
  await once(child, "spawn");
  const view = allProcesses().find((one) => one.pid === child.pid);
  expect(view?.environment).toContain("MARK=a mark");
  expect(view?.argv).toEqual(["sleep", "1000"]);
  child.kill("SIGKILL");
  await once(child, "exit");
});
