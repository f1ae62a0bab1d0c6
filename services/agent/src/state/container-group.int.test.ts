/** Tests signals to a container, which is a process tree of the test: its first child has the part of the init. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { identityOf } from "@trainyard/kernel/process-identity";
import { expect, test } from "vitest";
import { ownVariables } from "../testing/agent-config.ts";
import { containerGroupOf } from "./container-group.ts";

const record = { mechanism: "container", socket: "/nowhere", name: "none" } as const;
const training = `import os, signal
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"told\\n"))
os.write(1, b"up\\n")
while True: signal.pause()`;

test.each(["python3 -S -c $0", "python3 -S -c $0 | cat", "(python3 -S -c $0; :)"])(
  "SIGTERM reaches the training below the shell of %j, and neither the shell nor what reads its output",
  async (command) => {
    const script = `sh -c '${command.replace("$0", '"$0"')}; :' "$0"; :`;
    const init = spawn("sh", ["-c", script, training], { env: ownVariables(), detached: true });
    const lines = createInterface(init.stdout)[Symbol.asyncIterator]();
    try {
      expect((await lines.next()).value).toBe("up");
      const group = containerGroupOf("/nowhere", () => identityOf(init.pid ?? 0), record);
      const before = group.members().map(({ pid }) => pid);
      group.signal("SIGTERM");
      expect((await lines.next()).value).toBe("told");
      expect(group.members().map(({ pid }) => pid)).toEqual(before);
    } finally {
      process.kill(-(init.pid ?? 0), "SIGKILL");
    }
  },
);
