/**
 * Mock brokers of librdkafka, by its program kcat. They keep messages in memory, create each topic that is named, with
 * four partitions, and know neither TLS, SASL nor rights.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export type MockKafka = AsyncDisposable & {
  readonly brokers: readonly string[];
  /** Freezes all brokers until `thaw`: connections stay open, and nothing answers. A kill would lose all messages. */
  freeze(): void;
  thaw(): void;
};

/** Whether this machine has kcat. */
export const hasKcat = (): boolean => spawnSync("kcat", ["-V"]).status === 0;

export async function startMockKafka(brokers = 3): Promise<MockKafka> {
  const child = spawn(
    "kcat",
    ["-C", "-b", "ignored:1", "-t", "keepalive", "-d", "mock"].concat([
      "-X",
      `test.mock.num.brokers=${brokers}`,
    ]),
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  try {
    return {
      brokers: await addressesOf(child),
      freeze: () => void child.kill("SIGSTOP"),
      thaw: () => void child.kill("SIGCONT"),
      [Symbol.asyncDispose]: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** Reads the addresses from the log of kcat, which is then read and forgotten. */
async function addressesOf(child: ChildProcess): Promise<readonly string[]> {
  if (child.stderr === null) throw new Error("kcat has no log");
  const lines = createInterface({ input: child.stderr });
  const found = new Promise<readonly string[]>((resolve, reject) => {
    lines.on("line", (line) => {
      const addresses = /Mock cluster .* bootstrap\.servers=(\S+)/.exec(line)?.[1];
      if (addresses !== undefined) resolve(addresses.split(","));
    });
    lines.once("close", () => reject(new Error("kcat ended without mock brokers")));
  });
  return await found;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
