import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lockHolder, tryLock } from "./lock.ts";
import { identityOf } from "./process-identity.ts";
import { endProcess, temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "../processes/wait.ts";

const module = fileURLToPath(new URL("./lock.ts", import.meta.url));

/** Starts a process that tries to take the lock, writes the result into a file, and keeps the lock. */
function contender(lock: string, answer: string) {
  const script = `
    import { renameSync, writeFileSync } from "node:fs";
    import { tryLock } from ${JSON.stringify(module)};
    const result = tryLock(${JSON.stringify(lock)});
    writeFileSync(${JSON.stringify(`${answer}.draft`)}, result.held ? "held" : "refused " + result.holder.pid);
    renameSync(${JSON.stringify(`${answer}.draft`)}, ${JSON.stringify(answer)});
    process.stdin.resume();
    process.stdin.on("end", () => process.exit());
  `;
  return spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["pipe", "ignore", "inherit"],
  });
}

test("a lock has one holder at a time, and the next contender takes it after its release", () => {
  using home = temporaryHome();
  const path = join(home.run, "lock");
  const first = tryLock(path);
  expect(first.held).toBe(true);
  expect(tryLock(path)).toMatchObject({ held: false, holder: { pid: process.pid } });
  expect(lockHolder(path)?.pid).toBe(process.pid);
  if (first.held) first.lock[Symbol.dispose]();
  expect(lockHolder(path)).toBeNull();
  expect(tryLock(path).held).toBe(true);
});

test("kill -9 of the holder frees the lock, and a hundred starts leave one file", async () => {
  using home = temporaryHome();
  const path = join(home.run, "lock");
  const answer = join(home.run, "answer");
  const holder = contender(path, answer);
  expect(await waitUntil(() => existsSync(answer), 90_000)).toBe(true);
  expect(tryLock(path)).toMatchObject({ held: false, holder: { pid: holder.pid } });
  await endProcess(identityOf(holder.pid ?? 0));
  for (let start = 0; start < 100; start += 1) {
    const result = tryLock(path);
    if (!result.held) throw new Error("the lock was not free");
    result.lock[Symbol.dispose]();
  }
  expect(readdirSync(home.run).filter((name) => name.startsWith("lock"))).toHaveLength(1);
});

test("of several contenders for a stale lock, exactly one takes it", async () => {
  using home = temporaryHome();
  const path = join(home.run, "lock");
  writeFileSync(`${path}.7`, JSON.stringify({ pid: process.pid, started: "0", boot: "another" }));
  const answers = [0, 1, 2, 3].map((n) => join(home.run, `answer-${n}`));
  const all = answers.map((answer) => contender(path, answer));
  expect(await waitUntil(() => answers.every(existsSync), 90_000)).toBe(true);
  const results = answers.map((answer) => readFileSync(answer, "utf8"));
  expect(results.filter((text) => text === "held")).toHaveLength(1);
  const holder = all[results.indexOf("held")]?.pid;
  expect(results.filter((text) => text === `refused ${holder}`)).toHaveLength(3);
  for (const child of all) child.stdin.end();
  const alive = all.filter((child) => child.exitCode === null);
  await Promise.all(alive.map((child) => once(child, "exit")));
});

test("the copy of a held lock is free, and a lock that an earlier version holds is held", () => {
  using home = temporaryHome();
  using copy = temporaryHome();
  const path = join(home.run, "lock");
  using _ = heldLock(path);
  cpSync(`${path}.1`, join(copy.run, "lock.1"));
  expect(lockHolder(join(copy.run, "lock"))).toBeNull();
  expect(tryLock(join(copy.run, "lock")).held).toBe(true);
  expect(lockHolder(path)?.pid).toBe(process.pid);
  writeFileSync(join(copy.run, "earlier.1"), JSON.stringify(identityOf(process.pid)));
  expect(tryLock(join(copy.run, "earlier")).held).toBe(false);
});

function heldLock(path: string): Disposable {
  const result = tryLock(path);
  if (!result.held) throw new Error("the lock is held by another process");
  return result.lock;
}
