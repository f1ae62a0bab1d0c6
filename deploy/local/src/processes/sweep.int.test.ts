import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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
async function orphan(agents: string, name: string, script: string): Promise<string> {
  const folder = join(agents, "agent-1", "runs", name);
  mkdirSync(join(folder, "output"), { recursive: true });
  mkdirSync(join(folder, "run"));
  const child = spawn(process.execPath, [supervisor, folder], {
    detached: true,
    env: { ...process.env, ...markOf(clusterId, "agent-1") },
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
  const gentle = await orphan(home.agents, "gentle", `${up}; exec sleep 1000`);
  const stubborn = await orphan(
    home.agents,
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
