/** A second host has the same name: it is refused, and no run has two processes. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { endOf, type Scenario, submitCommand } from "./scenario.ts";

const name = "agent-1";
const forMs = 10_000;

export const secondAgent: Scenario = {
  name: "a second agent of the same name",
  run: async (world) => {
    const own = readFileSync(join(world.home, "run", "environment", `${name}.env`), "utf8");
    const folder = join(world.folder, "second-agent");
    const file = join(world.folder, "second-agent.env");
    const text = own
      .replace(/^TRAINYARD_AGENT_DIR=.*$/m, `TRAINYARD_AGENT_DIR=${folder}`)
      .replace(/^TRAINYARD_HTTP_PORT=.*$/m, "TRAINYARD_HTTP_PORT=0");
    writeFileSync(file, text, { mode: 0o600 });
    world.write("second-agent/.keep", "");
    const main = programFile(join(checkout, "services", "agent", "src", "main.ts"));
    const second = spawn(process.execPath, [main], {
      env: { ...process.env, TRAINYARD_ENV_FILE: file },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    second.stdout.on("data", (piece: Buffer) => (said += piece.toString()));
    second.stderr.on("data", (piece: Buffer) => (said += piece.toString()));
    try {
      await delay(forMs);
      const witness = join(world.folder, "second-witness");
      const lock = `python3 -c "import fcntl, os, time; f = open('${witness}.' + os.environ['TRAINYARD_TRIAL_ID'], 'w'); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB); time.sleep(5)"`;
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) ids.push(await submitCommand(world, `locks-${n}`, lock));
      const found: string[] = [];
      for (const id of ids) {
        const state = await endOf(world, id);
        if (state !== "COMPLETED") found.push(`experiment ${id} is ${state}`);
      }
      if (!/another host|name/i.test(said)) found.push(`the second agent says nothing: ${said}`);
      return found;
    } finally {
      second.kill("SIGKILL");
    }
  },
};
