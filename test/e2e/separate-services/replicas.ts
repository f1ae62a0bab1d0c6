/** Second replicas of services, behind nginx with the configuration that docs/operate/deploy.md gives for them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { freePort, hasNginx, runNginx } from "@trainyard/testing";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

export type Ports = { readonly http: number; readonly grpc: number };

const guide = join(checkout, "docs/operate/deploy.md");

const newPorts = async (): Promise<Ports> => ({ http: await freePort(), grpc: await freePort() });

/** Returns the settings of a process of the cluster. */
const settingsOf = (service: string): Readonly<Record<string, string>> =>
  parseEnvFile(readFileSync(join(world.home, "run/environment", `${service}.env`), "utf8"));

/** Another process of a service, with the settings of the cluster's own and ports of its own. */
class Replica implements AsyncDisposable {
  readonly service: string;
  readonly ports: Ports;
  #child: ChildProcess | null = null;

  constructor(service: string, ports: Ports) {
    this.service = service;
    this.ports = ports;
  }

  /** Starts it, or starts it again, and resolves when it is ready. */
  async start(): Promise<void> {
    const file = join(world.folder, `${this.service}-replica.env`);
    const { http, grpc } = this.ports;
    const own = { TRAINYARD_HTTP_PORT: http, TRAINYARD_GRPC_PORT: grpc };
    const lines = Object.entries({ ...settingsOf(this.service), ...own });
    writeFileSync(file, lines.map(([name, value]) => `${name}=${value}\n`).join(""), {
      mode: 0o600,
    });
    const program = programFile(join(checkout, "services", this.service, "src/main.ts"));
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, TRAINYARD_ENV_FILE: file },
      stdio: "ignore",
    });
    this.#child = child;
    await eventually(`the other ${this.service} is ready`, async () => {
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

/** Returns the documented configuration for the services, whose first ports are nginx's own. */
function directives(ports: Readonly<Record<string, readonly [Ports, Ports, Ports]>>): string {
  const text = readFileSync(guide, "utf8");
  const [, section = ""] = /## Several gateways(.*?)\n## /s.exec(text) ?? [];
  const blocks = [...section.matchAll(/```nginx\n(.*?)```/gs)].map(([, block = ""]) => block);
  // The guide names it in a comment, since it belongs outside of a server.
  const map = `map $http_upgrade $connection_upgrade { default upgrade; '' ""; }`;
  const at = ({ http, grpc }: Ports, of: string, [httpPort, grpcPort]: readonly string[]) => [
    [`${of}:${httpPort}`, `127.0.0.1:${http}`] as const,
    [`${of}:${grpcPort}`, `127.0.0.1:${grpc}`] as const,
  ];
  const { gateway: [front, ...gateways] = [], metrics: [reports, ...metrics] = [] } = ports;
  const replaced = [
    ...gateways.flatMap((one, index) => at(one, `gateway-${index + 1}`, ["8080", "9090"])),
    ...metrics.flatMap((one, index) => at(one, `metrics-${index + 1}`, ["9103", "9104"])),
    ["listen 443 ssl", `listen 127.0.0.1:${front?.http}`] as const,
    ["listen 8443 ssl http2", `listen 127.0.0.1:${front?.grpc} http2`] as const,
    ["listen 9103", `listen 127.0.0.1:${reports?.http}`] as const,
    ["listen 9104 http2", `listen 127.0.0.1:${reports?.grpc} http2`] as const,
  ];
  return replaced.reduce(
    (all, [from, to]) => all.replaceAll(from, to),
    [map, ...blocks].join("\n"),
  );
}

/**
 * The ports of nginx, before two gateways and two metrics services, and how to kill each replica and bring it back.
 * Only the other replicas in `services` are started.
 */
export async function stageOf(
  services: readonly ("gateway" | "metrics" | "logs")[],
  stack: AsyncDisposableStack,
  skip: (why: string) => never,
) {
  if (!hasNginx()) {
    const isRequired = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("nginx");
    if (isRequired) throw new Error("TRAINYARD_REQUIRE names nginx, but there is none");
    skip("nginx, from the distribution");
  }
  const portsOf = async (service: string): Promise<[Ports, Ports, Ports]> => {
    const own = settingsOf(service);
    const first = {
      http: Number(own["TRAINYARD_HTTP_PORT"]),
      grpc: Number(own["TRAINYARD_GRPC_PORT"]),
    };
    return [await newPorts(), first, await newPorts()];
  };
  const ports = { gateway: await portsOf("gateway"), metrics: await portsOf("metrics") };
  const others = await Promise.all(
    services.map(async (service) =>
      stack.use(new Replica(service, service === "logs" ? await newPorts() : ports[service][2])),
    ),
  );
  const startOthers = async (): Promise<void> => {
    await Promise.all(others.map((other) => other.start()));
  };
  await startOthers();
  const [front, first, second] = ports.gateway;
  const [reports] = ports.metrics;
  stack.use(await runNginx(directives(ports), front.http));
  return {
    ...{ front, first, second, reports, startOthers },
    /** Kills the cluster's own replicas. Returns a function that waits until the cluster has started them again. */
    killFirst: async (): Promise<() => Promise<void>> => {
      const killed = await Promise.all(
        services.map(async (service) => ({ service, pid: await world.kill(service) })),
      );
      return async () => {
        await Promise.all(killed.map(({ service, pid }) => world.untilUp(service, pid)));
      };
    },
    killOthers: async (): Promise<void> => {
      await Promise.all(others.map((other) => other.kill()));
    },
  };
}
