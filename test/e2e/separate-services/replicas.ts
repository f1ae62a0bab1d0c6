/** Second replicas of services, behind nginx with the configuration that docs/operate/deploy.md gives for them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import { hasNginx, runNginx } from "@trainyard/testing";
import { absent, notRun, type Skip } from "@trainyard/testing/needs";
import { eventually } from "../../world/eventually.ts";
import { newPorts, type Ports, Replica, settingsOf } from "../../world/replica.ts";
import { world } from "./cluster.ts";

const guide = join(checkout, "docs/operate/deploy.md");

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
  skip: Skip,
) {
  if (!hasNginx()) notRun(skip, absent("nginx", "nginx, from the distribution"));
  const portsOf = async (service: string): Promise<[Ports, Ports, Ports]> => {
    const own = settingsOf(world, service);
    const first = {
      http: Number(own["TRAINYARD_HTTP_PORT"]),
      grpc: Number(own["TRAINYARD_GRPC_PORT"]),
    };
    return [await newPorts(), first, await newPorts()];
  };
  const ports = { gateway: await portsOf("gateway"), metrics: await portsOf("metrics") };
  const others = await Promise.all(
    services.map(async (service) =>
      stack.use(
        new Replica(world, service, service === "logs" ? await newPorts() : ports[service][2]),
      ),
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
        await Promise.all(killed.map(({ service, pid }) => untilReady(service, pid)));
      };
    },
    killOthers: async (): Promise<void> => {
      await Promise.all(others.map((other) => other.kill()));
    },
  };
}

/** Waits until the cluster has started a service again, and it is ready, also while another replica has its lease. */
async function untilReady(service: string, otherThan: number): Promise<void> {
  const port = settingsOf(world, service)["TRAINYARD_HTTP_PORT"];
  await eventually(`${service} is ready again`, async () => {
    const found = (await world.processes()).find(({ name }) => name === service);
    if (found === undefined || found.pid === otherThan) return false;
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    return answer?.status === 200;
  });
}
