import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { isLocked, tryLock, waitForLock } from "./lock.ts";
import { temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "./wait.ts";

const module = join(import.meta.dirname, "lock.ts");

/**
 * Starts a process that tries to take the lock and writes the result into a file. With the lock it starts another
 * process that inherits it, and both live until the returned pipe closes.
 */
function contender(lock: string, answer: string) {
  const script = `
    import { spawn } from "node:child_process";
    import { renameSync, writeFileSync } from "node:fs";
    import { tryLock } from ${JSON.stringify(module)};
    const lock = tryLock(${JSON.stringify(lock)});
    if (lock !== null) spawn("sh", ["-c", "read -r _"], { stdio: [3, "ignore", "ignore", lock.file] });
    writeFileSync(${JSON.stringify(`${answer}.draft`)}, lock === null ? "refused" : "held");
    renameSync(${JSON.stringify(`${answer}.draft`)}, ${JSON.stringify(answer)});
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  return { child, answer, pipe: child.stdio[3] as Duplex };
}

const said = (answer: string): string | null => {
  try {
    return readFileSync(answer, "utf8");
  } catch {
    return null;
  }
};

test("a lock has one holder at a time, follows its file to another name, and is free after its release", async () => {
  using home = temporaryHome();
  const path = join(home.run, "lock");
  const first = tryLock(path);
  expect(first).not.toBeNull();
  expect(tryLock(path)).toBeNull();
  renameSync(path, `${path}-moved`);
  expect(isLocked(`${path}-moved`)).toBe(true);
  copyFileSync(`${path}-moved`, path);
  expect(isLocked(path)).toBe(false);
  expect(await waitForLock(`${path}-moved`, 0)).toBeNull();
  first?.[Symbol.dispose]();
  using again = await waitForLock(`${path}-moved`, 0);
  expect(again).not.toBeNull();
});

test("of several contenders exactly one takes the lock, and after its kill -9 the lock is free once no process is left that inherited it", async () => {
  using home = temporaryHome();
  const path = join(home.run, "lock");
  const all = [0, 1, 2, 3].map((n) => contender(path, join(home.run, `answer-${n}`)));
  expect(await waitUntil(() => all.every(({ answer }) => said(answer) !== null), 90_000)).toBe(
    true,
  );
  const [holder, ...more] = all.filter(({ answer }) => said(answer) === "held");
  if (holder === undefined) throw new Error("no contender has the lock");
  expect(more).toEqual([]);
  const end = once(holder.child, "exit");
  holder.child.kill("SIGKILL");
  await end;
  expect(isLocked(path)).toBe(true);
  holder.pipe.destroy();
  using taken = await waitForLock(path, 90_000);
  expect(taken).not.toBeNull();
  for (const { pipe } of all) pipe.destroy();
});
