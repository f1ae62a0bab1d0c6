import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { freePort } from "@trainyard/testing";
import { eventually } from "./eventually.ts";
import type { World } from "./world.ts";

export type Ports = { readonly http: number; readonly grpc: number };

export const newPorts = async (): Promise<Ports> => ({
  http: await freePort(),
  grpc: await freePort(),
});

/** Returns the settings of a process of the cluster. */
export const settingsOf = (world: World, service: string): Readonly<Record<string, string>> =>
  parseEnvFile(readFileSync(join(world.home, "run/environment", `${service}.env`), "utf8"));

/** Another process of a service, with the settings of the cluster's own and ports of its own. */
export class Replica implements AsyncDisposable {
  readonly #world: World;
  readonly #service: string;
  readonly #own: Readonly<Record<string, string>>;
  readonly #ports: Ports;
  #child: ChildProcess | null = null;

  /** `settings` replace those of the cluster's own process. */
  constructor(
    world: World,
    service: string,
    ports: Ports,
    settings: Readonly<Record<string, string>> = {},
  ) {
    this.#world = world;
    this.#service = service;
    this.#ports = ports;
    this.#own = settings;
  }

  /** Starts it, or starts it again, and resolves when it is ready. */
  async start(): Promise<void> {
    const file = join(this.#world.folder, `${this.#service}-replica.env`);
    const { http, grpc } = this.#ports;
    const own = { ...this.#own, TRAINYARD_HTTP_PORT: http, TRAINYARD_GRPC_PORT: grpc };
    const lines = Object.entries({ ...settingsOf(this.#world, this.#service), ...own });
    writeFileSync(file, lines.map(([name, value]) => `${name}=${value}\n`).join(""), {
      mode: 0o600,
    });
    const program = programFile(join(checkout, "services", this.#service, "src/main.ts"));
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, TRAINYARD_ENV_FILE: file },
      stdio: "ignore",
    });
    this.#child = child;
    await eventually(`the other ${this.#service} is ready`, async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      return (await fetch(`http://127.0.0.1:${http}/readyz`)).ok;
    });
  }

  /** Sends kill -9, and resolves when it has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
