import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { Duplex, PassThrough, Readable } from "node:stream";
import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { Fault, isFault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { dialWebSocket, serveTunnel, type TunnelEnd, tunnelLink } from "@trainyard/tunnel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requested, trialCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { peerPath } from "./peers.ts";

let gateway: TestGateway;
/** Two replicas of the gateway. */
let urls: readonly [string, string];

beforeAll(async () => {
  gateway = await startTestGateway();
  urls = [gateway.url, await gateway.startAnother()];
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const granted: AnyEvent = {
  type: "AllocationGranted",
  data: {
    placements: [{ agent: "rack", nodeRank: 0, slots: ["0"], address: "" }],
    masterAddress: "",
    masterPort: 1,
    tokenKey: "1",
    folded: 0,
  },
};
const started: AnyEvent = { type: "AllocationStarted", data: { starts: [] } };
const ended: AnyEvent = {
  type: "AllocationEnded",
  data: { cause: AllocationEndCause.EXITED, exits: [], message: "" },
};

/** Requests and grants the first run of a trial. Returns its token. */
async function grantRun(trial: string): Promise<string> {
  await gateway.append(`trial-${trial}`, trialCreated(1), requested(1, 0));
  const position = await gateway.append(`allocation-${trial}#1`, granted, started);
  return gateway.runToken(`${trial}#1`, position);
}

const dial = (url: string, path: string, headers: Record<string, string>): Promise<Duplex> =>
  dialWebSocket(`${url}${path}`, { clock: systemClock, headers });
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

type Agent = TunnelEnd & { readonly targets: PassThrough[]; readonly flood: Flood };

/** A source without an end, which counts the bytes that were taken from it. */
class Flood extends Readable {
  taken = 0;
  override _read(): void {
    this.taken += 65_536;
    this.push(Buffer.alloc(65_536));
  }
}

/** An agent's end: port 1 returns what it gets, port 2 writes without an end, and other ports are refused. */
async function startAgent(url: string, run: string, token: string): Promise<Agent> {
  const path = `/api/v1/runs/${encodeURIComponent(run)}/tunnel`;
  const headers = bearer(token);
  const link = await dialWebSocket(`${url}${path}`, { ...tunnelLink, clock: systemClock, headers });
  const targets: PassThrough[] = [];
  const flood = new Flood();
  const end = serveTunnel(link, async (name) => {
    if (name === "port-2") return Duplex.from(flood);
    if (name !== "port-1") {
      throw new Fault("undeclared_port", `${name} is not in proxy_ports`, { retry: "never" });
    }
    const target = new PassThrough();
    targets.push(target);
    return target;
  });
  return { ...end, targets, flood };
}

const stream = (url: string, trial: string, headers = bearer(gateway.token)): Promise<Duplex> =>
  dial(url, `/api/v1/trials/${trial}/streams/1`, headers);

async function textOf(from: Duplex): Promise<string> {
  let text = "";
  for await (const chunk of from) text += String(chunk);
  return text;
}

/** Repeats a stream that is refused because the agent is not connected yet. */
async function opened(url: string, trial: string, headers?: Record<string, string>) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await stream(url, trial, headers);
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function msUntilClosed(one: Duplex): Promise<number> {
  const start = performance.now();
  one.on("error", () => {}).resume();
  if (!one.destroyed) await new Promise((resolve) => one.once("close", resolve));
  return performance.now() - start;
}

describe("streams", () => {
  test("every replica reaches the tunnel that one of them has, and an end of input is passed on", async () => {
    const agent = await startAgent(urls[0], "1.1#1", await grantRun("1.1"));
    for (const url of urls) {
      const near = await opened(url, "1.1");
      near.end(`through ${url}`);
      expect(await textOf(near)).toBe(`through ${url}`);
    }
    agent.close();
  });

  test("a run whose agent dials another replica is reached through that one", async () => {
    const token = await grantRun("1.2");
    const before = await startAgent(urls[0], "1.2#1", token);
    (await opened(urls[1], "1.2")).destroy();
    const after = await startAgent(urls[1], "1.2#1", token);
    before.close();
    for (const url of urls) {
      const near = await opened(url, "1.2");
      near.end("moved");
      expect(await textOf(near)).toBe("moved");
    }
    expect(after.targets).toHaveLength(2);
    after.close();
  });

  test("a client that does not read stops the run's writer, through two replicas, and no other stream", async () => {
    const agent = await startAgent(urls[0], "1.4#1", await grantRun("1.4"));
    (await opened(urls[1], "1.4")).destroy();
    const stopped = await dial(urls[1], "/api/v1/trials/1.4/streams/2", bearer(gateway.token));
    stopped.on("error", () => {});
    let before = -1;
    while (agent.flood.taken !== before) {
      before = agent.flood.taken;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    // The processes hold less than 1 MiB each. The rest is in the sockets of the kernel.
    expect(before).toBeLessThan(24 * 1024 * 1024);
    const other = await stream(urls[1], "1.4");
    other.end("passes");
    expect(await textOf(other)).toBe("passes");
    stopped.destroy();
    await expect.poll(() => agent.flood.destroyed).toBe(true);
    agent.close();
  });

  test("a refusal of the agent reaches the caller of every replica as one sentence", async () => {
    const agent = await startAgent(urls[0], "1.3#1", await grantRun("1.3"));
    await opened(urls[1], "1.3");
    for (const url of urls) {
      const asked = dial(url, "/api/v1/trials/1.3/streams/22", bearer(gateway.token));
      await expect(asked).rejects.toMatchObject({
        code: "undeclared_port",
        message: "port-22 is not in proxy_ports",
      });
    }
    agent.close();
  });

  test("a run that is not connected is refused with the reason", async () => {
    const refusal = (trial: string) => () =>
      stream(urls[0], trial).then(
        () => "a stream",
        (error: unknown) => (isFault(error) ? `${error.code}: ${error.message}` : String(error)),
      );
    expect(await refusal("9.9")()).toBe("trial_not_found: there is no trial 9.9");
    const refused = (reason: string) =>
      expect.poll(refusal("2.1")).toContain(`not_connected: ${reason}`);
    await gateway.append("trial-2.1", trialCreated(1), requested(1, 0));
    await refused("run 2.1#1 waits for a place");
    await gateway.append("allocation-2.1#1", granted);
    await refused("run 2.1#1 is starting on agent rack");
    await gateway.append("allocation-2.1#1", started);
    await refused("agent rack of run 2.1#1 is not connected to the gateway");
    await gateway.append("allocation-2.1#1", ended);
    await refused("run 2.1#1 has ended");
  });

  test.each(["/api/v1/trials/1.1/streams/0", "/api/v1/trials/1.1/streams/terminal", "/api/v1/x"])(
    "an upgrade of %s is refused as unknown",
    async (path) => {
      const asked = dial(urls[0], path, bearer(gateway.token));
      await expect(asked).rejects.toMatchObject({ fields: { status: 404 } });
    },
  );
});

test("a request that offers another protocol than WebSocket is answered as usual", async () => {
  const { port, hostname } = new URL(gateway.url);
  const headers = { connection: "Upgrade", upgrade: "h2c" };
  const asked = request({ port, host: hostname, path: "/livez", headers }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(200);
});

describe("callers", () => {
  test("a tunnel is opened by the token of its run only, until the run has ended", async () => {
    const token = await grantRun("3.1");
    const other = await grantRun("3.2");
    const refused = (asked: Promise<Agent>) => expect(asked).rejects;
    await refused(startAgent(urls[0], "3.1#1", other)).toMatchObject({ code: "not_your_run" });
    await refused(startAgent(urls[0], "3.1#1", gateway.token)).toMatchObject({
      code: "not_your_run",
    });
    await refused(startAgent(urls[0], "3.1#1", "ty1.wrong")).toMatchObject({
      code: "invalid_token",
    });
    await gateway.append("allocation-3.1#1", ended);
    const late = () => startAgent(urls[0], "3.1#1", token).then(close, codeOf);
    await expect.poll(late).toBe("run_ended");
    await expect(stream(urls[0], "3.2", bearer(other))).rejects.toMatchObject({
      code: "not_for_runs",
    });
  });

  test("the door between replicas admits no token, and no earlier credential", async () => {
    const token = await grantRun("3.3");
    for (const headers of [
      {},
      bearer(token),
      bearer(gateway.token),
      { authorization: `Trainyard-Peer 1.1700000000000.${"A".repeat(43)}` },
    ]) {
      await expect(
        dial(urls[0], peerPath, headers as Record<string, string>),
      ).rejects.toMatchObject({ code: "not_a_replica" });
    }
  });

  test("a cookie opens a stream only from a page of this server", async () => {
    const agent = await startAgent(urls[0], "3.4#1", await grantRun("3.4"));
    (await opened(urls[0], "3.4")).destroy();
    const cookie = await signIn();
    const refused = (headers: Record<string, string>) =>
      expect(stream(urls[0], "3.4", { cookie, ...headers })).rejects;
    await refused({}).toMatchObject({ code: "no_origin" });
    await refused({ origin: "http://evil.example" }).toMatchObject({ code: "cross_origin" });
    await refused({ origin: urls[0], "sec-fetch-site": "same-site" }).toMatchObject({
      code: "cross_origin",
    });
    const foreign = { ...bearer(gateway.token), origin: "http://evil.example" };
    await expect(stream(urls[0], "3.4", foreign)).rejects.toMatchObject({ code: "cross_origin" });
    const near = await stream(urls[0], "3.4", { cookie, origin: urls[0] });
    near.end("from a page");
    expect(await textOf(near)).toBe("from a page");
    agent.close();
  });
});

const close = (agent: Agent): void => agent.close();
const codeOf = (error: unknown): string => (isFault(error) ? error.code : String(error));

test("a page learns of a refusal by the code and the reason with which its WebSocket closes", async () => {
  const headers = { cookie: await signIn(), origin: urls[0] };
  const address = `${urls[0].replace("http", "ws")}/api/v1/trials/99.9/streams/1`;
  const page = new WebSocket(address, { headers } as never);
  const closed = await new Promise<CloseEvent>((resolve) => {
    page.addEventListener("close", resolve);
  });
  expect([closed.code, closed.reason]).toEqual([4404, "trial_not_found: there is no trial 99.9"]);
});

async function signIn(): Promise<string> {
  const answer = await gateway.call("POST", "/api/v1/sessions", {
    body: { token: gateway.token },
    token: null,
  });
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

describe("the end of a caller or a run", () => {
  test("a revoked token ends its streams at every replica within 2 s", async () => {
    const agent = await startAgent(urls[0], "4.1#1", await grantRun("4.1"));
    const made = await gateway.call("POST", "/api/v1/tokens", { body: {} });
    const headers = bearer(String(made.body["secret"]));
    const streams = await Promise.all(urls.map((url) => opened(url, "4.1", headers)));
    const kept = await opened(urls[1], "4.1");
    const { id } = made.body["token"] as { readonly id: string };
    expect(await gateway.call("DELETE", `/api/v1/tokens/${id}`)).toMatchObject({ status: 200 });
    const times = await Promise.all(streams.map(msUntilClosed));
    expect(Math.max(...times)).toBeLessThan(2_000);
    kept.end("another token");
    expect(await textOf(kept)).toBe("another token");
    agent.close();
  });

  test("a session that one replica ended ends its streams at the other one within 2 s", async () => {
    const agent = await startAgent(urls[0], "4.2#1", await grantRun("4.2"));
    const cookie = await signIn();
    const near = await opened(urls[1], "4.2", { cookie, origin: urls[1] });
    const origin = urls[0];
    const path = "/api/v1/sessions/current";
    await gateway.call("DELETE", path, { token: null, headers: { cookie, origin } });
    expect(await msUntilClosed(near)).toBeLessThan(2_000);
    agent.close();
  });

  test("the end of a run ends its tunnel and the streams of every replica within 2 s", async () => {
    const agent = await startAgent(urls[0], "4.3#1", await grantRun("4.3"));
    const streams = await Promise.all(urls.map((url) => opened(url, "4.3")));
    await gateway.append("allocation-4.3#1", ended);
    const times = await Promise.all(streams.map(msUntilClosed));
    expect(Math.max(...times)).toBeLessThan(2_000);
    await agent.closed;
  });

  test("a client that leaves closes its target", async () => {
    const agent = await startAgent(urls[0], "4.4#1", await grantRun("4.4"));
    const near = await opened(urls[1], "4.4");
    near.destroy();
    const [target] = agent.targets;
    target?.on("error", () => {});
    await expect.poll(() => target?.destroyed).toBe(true);
    agent.close();
  });
});
