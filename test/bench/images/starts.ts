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
const main = (kind: string): string => `services/${Starts.service}/src/main.${kind}`;

export class Starts implements AsyncDisposable {
  static readonly service = "experiments";
  readonly #podman: Podman;
  /** The folder of the image's files. */
  readonly #files: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    podman: Podman,
    environment: Readonly<Record<string, string>>,
    stack: AsyncDisposableStack,
  ) {
    this.#podman = podman;
    this.#files = podman.run("image", "mount", imageOf(Starts.service)).trim();
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

  /** Returns the milliseconds until the service is ready, by the image's own files. */
  async onHost(): Promise<number> {
    const at = join(this.#files, "opt/trainyard");
    return this.#started(join(at, "bin/node"), join(at, main("js")));
  }

  /** The same by the program of the checkout, which is one file (ADR 73). */
  async compiled(): Promise<number> {
    return this.#started(process.execPath, programFile(join(checkout, main("ts"))));
  }

  async #started(node: string, program: string): Promise<number> {
    const port = await freePort();
    const start = performance.now();
    const child = spawn(node, [program], {
      stdio: "ignore",
      env: { ...process.env, ...this.#environment, TRAINYARD_HTTP_PORT: String(port) },
    });
    const took = await untilReady(port, start);
    child.kill("SIGTERM");
    await once(child, "exit");
    return took;
  }

  /** The same in a container that was created before. */
  async asContainer(): Promise<number> {
    const port = await freePort();
    const settings = { ...this.#environment, TRAINYARD_HTTP_PORT: String(port) };
    const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
    const options = ["--name=measured", "--network=host", "--read-only", "--cap-drop=all"];
    this.#podman.run("create", ...options, ...env, imageOf(Starts.service));
    const start = performance.now();
    this.#podman.run("start", "measured");
    const took = await untilReady(port, start);
    this.#podman.run("stop", "--time=30", "measured");
    this.#podman.run("rm", "measured");
    return took;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#podman.run("image", "unmount", imageOf(Starts.service));
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
