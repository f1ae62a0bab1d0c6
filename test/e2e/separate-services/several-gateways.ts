/** Tests two gateways, two metrics and two logs services behind nginx, as docs/operate/deploy.md configures it. */
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@trainyard/client";
import { EventService } from "@trainyard/contracts/api";
import { GrpcClient } from "@trainyard/runtime/grpc";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import type { Ports } from "../../world/replica.ts";
import { world } from "./cluster.ts";
import { stageOf } from "./replicas.ts";
import { startReplicatedRun } from "./replicated-run.ts";

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

const clientAt = (port: number, token: string): Client =>
  new Client({ url: `http://127.0.0.1:${port}`, token });

test("streams, Watch, gRPC, calls and reports move between replicas that are killed and come back, without a gap", async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack();
  const stage = await stageOf(["gateway", "metrics", "logs"], stack, skip);
  const { front, reports } = stage;
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
  const run = await startReplicatedRun(client, front, reports);
  await makeSome();
  const untilUp = await stage.killFirst();
  await makeSome();
  await untilUp();
  await makeSome();
  await stage.killOthers();
  await makeSome();
  await stage.startOthers();
  await makeSome();
  expect(await run.end()).toEqual([]);
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
  const { first, second } = await stageOf(["gateway"], stack, skip);
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
