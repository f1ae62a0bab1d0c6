/** A service that starts on the host, and as a container, on one PostgreSQL and NATS. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { startNats } from "@trainyard/bus/testing";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import type { Podman } from "@trainyard/service-agent/testing/podman";
import { freePort, startTestPostgres } from "@trainyard/testing";
import { imageOf } from "../../images/built.ts";

const database = "trainyard";

export class Starts implements AsyncDisposable {
  static readonly service = "experiments";
  readonly #podman: Podman;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    podman: Podman,
    environment: Readonly<Record<string, string>>,
    stack: AsyncDisposableStack,
  ) {
    this.#podman = podman;
    this.#environment = environment;
    this.#stack = stack;
  }

  /** Starts the servers, and prepares the database by the image `migrate`. */
  static async open(podman: Podman): Promise<Starts> {
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await startTestPostgres());
    const nats = stack.use(await startNats());
    const admin = `--env=TRAINYARD_POSTGRES_ADMIN_URL=${postgres.url({ database })}`;
    podman.run("run", "--rm", "--network=host", admin, imageOf("migrate"));
    const environment = {
      TRAINYARD_POSTGRES_URL: postgres.url({ user: `ty_${Starts.service}`, database }),
      TRAINYARD_NATS_URL: nats.url,
      TRAINYARD_HTTP_HOST: "127.0.0.1",
    };
    return new Starts(podman, environment, stack.move());
  }

  /** Returns the milliseconds until the service is ready. */
  async onHost(): Promise<number> {
    const port = await freePort();
    const source = join(checkout, "services", Starts.service, "src/main.ts");
    const start = performance.now();
    const child = spawn(process.execPath, [programFile(source)], {
      stdio: "ignore",
      env: { ...process.env, ...this.#environment, TRAINYARD_HTTP_PORT: String(port) },
    });
    const took = await untilReady(port, start);
    child.kill("SIGTERM");
    await once(child, "exit");
    return took;
  }

  async asContainer(): Promise<number> {
    const port = await freePort();
    const settings = { ...this.#environment, TRAINYARD_HTTP_PORT: String(port) };
    const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
    const options = [
      "--detach",
      "--name=measured",
      "--network=host",
      "--read-only",
      "--cap-drop=all",
    ];
    const start = performance.now();
    this.#podman.run("run", ...options, ...env, imageOf(Starts.service));
    const took = await untilReady(port, start);
    this.#podman.run("stop", "--time=30", "measured");
    this.#podman.run("rm", "measured");
    return took;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const limitMs = 60_000;

async function untilReady(port: number, start: number): Promise<number> {
  for (;;) {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    const took = performance.now() - start;
    if (isReady) return took;
    if (took > limitMs) throw new Error(`${Starts.service} was not ready in time`);
    await delay(5);
  }
}
