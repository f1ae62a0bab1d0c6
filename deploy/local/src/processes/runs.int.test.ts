import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Home } from "../home/home.ts";
import { endRuns, livingRuns } from "./runs.ts";
import { isAlive, signal } from "./process-identity.ts";
import { temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "./wait.ts";

const starter = join(import.meta.dirname, "../../../../services/agent/src/supervisor/starter.py");

function read(folder: string, name: string): { why?: string; signal?: string } | null {
  try {
    return JSON.parse(readFileSync(join(folder, name), "utf8")) as { why?: string };
  } catch {
    return null;
  }
}

/** A run that a killed agent left: its supervisor, and the process that it watches. */
async function orphan(home: Home, name: string, script: string): Promise<string> {
  const folder = join(home.agents, "agent-1", "runs", name);
  mkdirSync(join(folder, "output"), { recursive: true });
  mkdirSync(join(folder, "run"));
  const child = spawn("python3", ["-I", "-S", "-E", starter, join(folder, "..")], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const environment = { PATH: process.env["PATH"], TRAINYARD_RUN_DIR: join(folder, "run") };
  const order = { argv: ["sh", "-c", script], environment, work: folder, mechanism: "parent" };
  child.stdin?.end(`${JSON.stringify({ id: 1, folder, order })}\n`);
  expect(await waitUntil(() => read(folder, "run/up") !== null, 90_000)).toBe(true);
  return folder;
}

test("without their agent, runs end as shut down, are killed if they do not end, and end without their supervisor, too", async () => {
  using home = temporaryHome();
  const up = 'echo {} > "$TRAINYARD_RUN_DIR/up"';
  const stays = `trap '' TERM; ${up}; while :; do sleep 0.1; done`;
  const gentle = await orphan(home, "gentle", `${up}; exec sleep 1000`);
  const stubborn = await orphan(home, "stubborn", stays);
  const alone = await orphan(home, "alone", stays);
  // A supervisor records the process that it watches after it has started it.
  const isWatched = (): boolean =>
    livingRuns(home).every(({ supervisor, leader }) => supervisor !== null && leader !== null);
  expect(await waitUntil(isWatched, 90_000)).toBe(true);
  const runs = livingRuns(home);
  const ofAlone = runs.find(({ folder }) => folder === alone)?.supervisor;
  if (ofAlone == null) throw new Error("the run has no supervisor");
  signal(ofAlone, "SIGKILL");
  const processes = runs.flatMap(({ supervisor, leader }) => [supervisor, leader]);
  expect(processes).not.toContain(null);
  expect(await endRuns(home)).toBe(true);
  expect(processes.filter((one) => one !== null && isAlive(one))).toEqual([]);
  for (const folder of [gentle, stubborn]) expect(read(folder, "kill.json")?.why).toBe("shutdown");
  expect(read(gentle, "exit.json")?.signal).toBe("SIGTERM");
  expect(read(stubborn, "exit.json")?.signal).toBe("SIGKILL");
  expect(await endRuns(home)).toBe(false);
});
