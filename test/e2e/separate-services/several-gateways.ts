/** Tests two gateways behind nginx, with the configuration that docs/operate/deploy.md gives for them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@trainyard/client";
import { EventService } from "@trainyard/contracts/api";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { GrpcClient } from "@trainyard/runtime/grpc";
import { freePort, hasNginx, runNginx } from "@trainyard/testing";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

type Ports = { readonly http: number; readonly grpc: number };

const guide = join(checkout, "docs/operate/deploy.md");

/** Returns the settings of the cluster's gateway. */
const settings = (): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(join(world.home, "run/environment/gateway.env"), "utf8")
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

/** Starts another gateway of the cluster, or starts it again, and resolves when it is ready. */
async function startReplica({ http, grpc }: Ports): Promise<ChildProcess> {
  const file = join(world.folder, "replica.env");
  const own = { TRAINYARD_HTTP_PORT: http, TRAINYARD_GRPC_PORT: grpc };
  const lines = Object.entries({ ...Object.fromEntries(settings()), ...own });
  writeFileSync(file, lines.map(([name, value]) => `${name}=${value}\n`).join(""), { mode: 0o600 });
  const program = programFile(join(checkout, "services/gateway/src/main.ts"));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, TRAINYARD_ENV_FILE: file },
    stdio: "ignore",
  });
  await eventually("the other gateway is ready", async () => {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    return (await fetch(`http://127.0.0.1:${http}/readyz`)).ok;
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await ended;
}

/** Returns the documented configuration for these gateways. */
function directives(front: Ports, [first, second]: readonly [Ports, Ports]): string {
  const text = readFileSync(guide, "utf8");
  const [, block = ""] = /## Several gateways.*?```nginx\n(.*?)```/s.exec(text) ?? [];
  // The guide names it in a comment, since it belongs outside of a server.
  const map = `map $http_upgrade $connection_upgrade { default upgrade; '' ""; }`;
  return `${map}\n${block}`
    .replace("listen 443 ssl", `listen 127.0.0.1:${front.http}`)
    .replace("listen 8443 ssl http2", `listen 127.0.0.1:${front.grpc} http2`)
    .replaceAll("gateway-1:8080", `127.0.0.1:${first.http}`)
    .replaceAll("gateway-2:8080", `127.0.0.1:${second.http}`)
    .replaceAll("gateway-1:9090", `127.0.0.1:${first.grpc}`)
    .replaceAll("gateway-2:9090", `127.0.0.1:${second.grpc}`);
}

const portsOf = async (): Promise<Ports> => ({ http: await freePort(), grpc: await freePort() });

const ofWorkspaces = { types: ["WorkspaceCreated"] };

/** Follows events over gRPC, and opens the stream again after its last event. */
async function followOverGrpc(
  port: number,
  token: string,
  sequences: string[],
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    using client = new GrpcClient(`127.0.0.1:${port}`, token);
    const after = sequences.at(-1) ?? "";
    const stream = client.read(EventService.method.watchEvents, { ...ofWorkspaces, after });
    const leave = (): void => stream.cancel();
    until.addEventListener("abort", leave);
    try {
      for await (const { sequence } of stream) sequences.push(String(sequence));
    } catch {
      await delay(100);
    }
    until.removeEventListener("abort", leave);
  }
}

/** Returns the positions of all new workspaces, in their order. */
async function created(client: Client): Promise<readonly string[]> {
  const sequences: string[] = [];
  for (let pageToken = ""; ; ) {
    const page = await client.call("listEvents", { ...ofWorkspaces, pageSize: 500, pageToken });
    sequences.push(...page.items.map(({ sequence }) => sequence));
    pageToken = page.nextPageToken;
    if (pageToken === "") return sequences.toReversed();
  }
}

/** The address of nginx over HTTP and gRPC, and how to kill each gateway and bring it back. */
async function stageOf(stack: AsyncDisposableStack, skip: (why: string) => never) {
  if (!hasNginx()) {
    const isRequired = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("nginx");
    if (isRequired) throw new Error("TRAINYARD_REQUIRE names nginx, but there is none");
    skip("nginx, from the distribution");
  }
  const own = settings();
  const first = {
    http: Number(own.get("TRAINYARD_HTTP_PORT")),
    grpc: Number(own.get("TRAINYARD_GRPC_PORT")),
  };
  const [second, front] = [await portsOf(), await portsOf()];
  let replica = await startReplica(second);
  stack.defer(() => kill(replica));
  stack.use(await runNginx(directives(front, [first, second]), front.http));
  return {
    ...{ first, second, front },
    killReplica: () => kill(replica),
    startReplica: async () => {
      replica = await startReplica(second);
    },
  };
}

const clientAt = (port: number, token: string): Client =>
  new Client({ url: `http://127.0.0.1:${port}`, token });

test("streams, Watch, gRPC and calls move between gateways that are killed and come back, without a gap", async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack();
  const { front, killReplica, startReplica: startAgain } = await stageOf(stack, skip);
  const { token } = world.access;
  const client = clientAt(front.http, token);
  const over = new AbortController();
  const { signal } = over;
  const seen = { events: [] as string[], watch: new Set<string>(), grpc: [] as string[] };
  const following = { signal, outlast: true };
  const followers = [
    (async () => {
      for await (const { message } of client.stream("watchEvents", ofWorkspaces, following)) {
        seen.events.push(message.sequence);
      }
    })(),
    (async () => {
      const { position } = await client.call("listWorkspaces", {}, { outlast: true });
      const topics = [{ kind: "workspaces", position }];
      for await (const { message } of client.stream("watch", { topics }, following)) {
        if (message.frame.case === "change") seen.watch.add(message.frame.value.id);
      }
    })(),
    followOverGrpc(front.grpc, token, seen.grpc, signal),
  ];
  const reading = (async () => {
    while (!signal.aborted) await client.call("listWorkspaces", {}, { outlast: true });
  })();
  const names: string[] = [];
  // A call that breaks off holds its key for half a minute, so none runs while a gateway is killed; reads do.
  const makeSome = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      const name = `moved-${names.length + 1}`;
      await client.call("createWorkspace", { name }, { idempotencyKey: name, outlast: true });
      names.push(name);
    }
  };
  await makeSome();
  const killed = await world.kill("gateway");
  await makeSome();
  await world.untilUp("gateway", killed);
  await makeSome();
  await killReplica();
  await makeSome();
  await startAgain();
  await makeSome();
  const all = await created(client);
  await eventually("the followers have everything", async () => {
    const last = all.at(-1) ?? "";
    return (
      [seen.events, seen.grpc].every((each) => each.includes(last)) &&
      seen.watch.has(names.at(-1) ?? "")
    );
  });
  over.abort();
  await reading;
  await Promise.allSettled(followers);
  expect(seen.events).toEqual(all);
  expect(seen.grpc).toEqual(all);
  expect(names.filter((name) => !seen.watch.has(name))).toEqual([]);
});

test("a token that is revoked at one gateway is refused at the other within a second", async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack();
  const { first, second } = await stageOf(stack, skip);
  const [one, other] = [first, second].map(({ http }) => clientAt(http, world.access.token));
  const issued = await one?.call("createToken", { label: "short" });
  const statusAt = async ({ http }: Ports): Promise<number> => {
    const headers = { authorization: `Bearer ${issued?.secret}` };
    const answer = await fetch(`http://127.0.0.1:${http}/api/v1/workspaces`, { headers });
    await answer.body?.cancel();
    return answer.status;
  };
  await eventually("both accept it", async () => {
    const statuses = await Promise.all([first, second].map(statusAt));
    return statuses.every((status) => status === 200);
  });
  await other?.call("revokeToken", { token: issued?.token?.id ?? "" });
  const revoked = performance.now();
  await eventually("the other refuses it", async () => (await statusAt(first)) === 401);
  expect(performance.now() - revoked).toBeLessThan(1_000);
});
