/** The relay as a process of its own: it brings the events of a log to NATS. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const main = join(import.meta.dirname, "../../../services/relay/src/main.ts");

/** Starts a relay, which ends with the stack. It sends traces to a collector, if that is given. */
export function startRelay(
  stack: AsyncDisposableStack,
  logUrl: string,
  { url }: { readonly url: string },
  collector?: string,
): void {
  const relay = spawn(process.execPath, [main], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      TRAINYARD_POSTGRES_URL: logUrl,
      TRAINYARD_NATS_URL: url,
      TRAINYARD_LOG_LEVEL: "warn",
      ...(collector === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector }),
    },
  });
  stack.defer(() => ended(relay));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
