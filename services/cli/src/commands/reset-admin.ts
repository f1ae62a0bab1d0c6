/** `yard user reset-admin`: runs the gateway's own command on its host, for a cluster whose admins cannot sign in. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { programFile } from "@trainyard/kernel/program-file";
import type { Command } from "commander";
import { Failure } from "../usage-error.ts";

const gateway = fileURLToPath(new URL("../../../gateway/src/main.ts", import.meta.url));

export function addResetAdmin(group: Command): void {
  group
    .command("reset-admin")
    .argument("<person>", "who becomes an admin, with a new password")
    .description("on the gateway's host with the gateway's settings; no gateway need run")
    .action(async (person: string) => {
      const child = spawn(process.execPath, [programFile(gateway), "reset-admin", person], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.on("data", (chunk: Buffer) => process.stdout.write(chunk));
      child.stderr.on("data", (chunk: Buffer) => process.stderr.write(chunk));
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Failure("", code ?? 1);
    });
}
