import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Home, homeAt } from "../home/home.ts";
import { identityOf, isAlive } from "./process-identity.ts";
import { findMembers, markOf } from "./records.ts";
import { sweep } from "./sweep.ts";
import { temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "./wait.ts";

const clusterId = "the-cluster-of-this-test";
const supervisor = join(import.meta.dirname, "../../../../services/agent/src/supervisor/main.ts");

function read(folder: string, name: string): { why?: string; signal?: string } | null {
  try {
    return JSON.parse(readFileSync(join(folder, name), "utf8")) as { why?: string };
  } catch {
    return null;
  }
}

/** A run that a killed agent left: its supervisor, and the process that it watches. */
async function orphan(
  home: Home,
  name: string,
  script: string,
  mark = markOf(home, clusterId, "agent-1"),
): Promise<string> {
  const folder = join(home.agents, "agent-1", "runs", name);
  mkdirSync(join(folder, "output"), { recursive: true });
  mkdirSync(join(folder, "run"));
  const child = spawn(process.execPath, [supervisor, folder], {
    detached: true,
    env: { ...process.env, ...mark },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const environment = { PATH: process.env["PATH"], TRAINYARD_RUN_DIR: join(folder, "run") };
  const order = { argv: ["sh", "-c", script], environment, work: folder };
  child.stdin?.end(`${JSON.stringify(order)}\n`);
  expect(await waitUntil(() => read(folder, "run/up") !== null, 90_000)).toBe(true);
  return folder;
}

test("without their agent, supervisors record the trials as shut down, and kill those that do not end", async () => {
  using home = temporaryHome();
  const up = 'echo {} > "$TRAINYARD_RUN_DIR/up"';
  const gentle = await orphan(home, "gentle", `${up}; exec sleep 1000`);
  const stubborn = await orphan(
    home,
    "stubborn",
    `trap '' TERM; ${up}; while :; do sleep 0.1; done`,
  );
  const { ofRuns, watching } = findMembers(clusterId, home);
  expect(watching).toHaveLength(2);
  expect(ofRuns.length).toBeGreaterThanOrEqual(2);
  expect(watching.map(({ pid }) => identityOf(pid))).not.toContain(null);
  await sweep(clusterId, home);
  expect([...ofRuns, ...watching].filter(isAlive)).toEqual([]);
  for (const folder of [gentle, stubborn]) expect(read(folder, "kill.json")?.why).toBe("shutdown");
  expect(read(gentle, "exit.json")?.signal).toBe("SIGTERM");
  expect(read(stubborn, "exit.json")?.signal).toBe("SIGKILL");
});

test("a sweep ends processes that an earlier version marked without the home, and none of another home with the same cluster id", async () => {
  using home = temporaryHome();
  using copy = temporaryHome();
  const script = 'echo {} > "$TRAINYARD_RUN_DIR/up"; exec sleep 1000';
  const earlier = { TRAINYARD_SUPERVISED: `${clusterId}/agent-1` };
  await orphan(home, "marked", script);
  await orphan(home, "earlier", script, earlier);
  const { watching, ofRuns } = findMembers(clusterId, home);
  expect(watching).toHaveLength(2);
  await sweep(clusterId, copy);
  expect([...watching, ...ofRuns].every(isAlive)).toBe(true);
  // A home that is renamed keeps the processes that were marked with it.
  const renamed = `${home.path}-renamed`;
  renameSync(home.path, renamed);
  expect(findMembers(clusterId, homeAt(renamed)).supervised.length).toBeGreaterThan(0);
  renameSync(renamed, home.path);
  await sweep(clusterId, home);
  expect([...watching, ...ofRuns].filter(isAlive)).toEqual([]);
});
