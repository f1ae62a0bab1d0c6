/** The contract suite of a tunnel, for every way between its ends. */
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { Duplex, PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { ManualClock } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { tunnelLimits } from "../limits.ts";
import {
  Drain,
  echo,
  Flood,
  type OpenFixture,
  settled,
  textOf,
  type TunnelFixture,
} from "./fixture.ts";

const mebibyte = 1024 * 1024;

async function closeOf(stream: Duplex): Promise<void> {
  if (!stream.destroyed) await new Promise((resolve) => stream.once("close", resolve));
}

export function tunnelContract(way: string, open: OpenFixture): void {
  describe(`tunnel contract: ${way}`, () => {
    describe("streams", () => streamContract(open));
    describe("backpressure", () => backpressureContract(open));
    describe("ends", () => endContract(open));
  });
}

/** Adds what Node's HTTP client asks of a socket. */
const asSocket = (stream: Duplex): Socket =>
  Object.assign(stream, { setTimeout: () => stream, ref: () => stream }) as unknown as Socket;

const bothClosed = ({ asking, serving }: TunnelFixture): Promise<unknown> =>
  Promise.all([asking.closed, serving.closed]);

function streamContract(open: OpenFixture): void {
  test("a stream carries bytes in both directions to the target that it names", async () => {
    const names: string[] = [];
    const target = async (name: string): Promise<Duplex> => (names.push(name), echo());
    await using fixture = await open({ clock: systemClock, open: target });
    const stream = await fixture.asking.open("port-8080");
    stream.end("what was sent");
    expect(await textOf(stream)).toBe("what was sent");
    expect(names).toEqual(["port-8080"]);
  });

  test("the head and the body of a request by Node's HTTP client arrive as they were sent", async () => {
    let heard = "";
    const writable = new PassThrough().on("data", (bytes: Buffer) => (heard += String(bytes)));
    const target = Duplex.from({ readable: new PassThrough(), writable });
    await using fixture = await open({ clock: systemClock, open: async () => target });
    const stream = await fixture.asking.open("port-8080");
    const agent = new Agent();
    // The head and the body wait for the connection, and are then written at once.
    agent.createConnection = (_options, connected) =>
      void setImmediate(() => connected?.(null, asSocket(stream)));
    const sent = request({
      agent,
      method: "POST",
      path: "/page",
      headers: { "content-length": 4 },
    });
    sent.on("error", () => {});
    sent.write(Buffer.from("body"));
    sent.end();
    await expect.poll(() => heard).toMatch(/^POST \/page HTTP[^]+\r\n\r\nbody$/);
    sent.destroy();
  });

  test("the end of one direction is passed on, and the other direction continues", async () => {
    const far = new PassThrough();
    const heard = new PassThrough();
    const target = Duplex.from({ readable: far, writable: heard });
    await using fixture = await open({ clock: systemClock, open: async () => target });
    const stream = await fixture.asking.open("holder");
    stream.end("question");
    expect(await textOf(heard)).toBe("question");
    far.end("answer after the end");
    expect(await textOf(stream)).toBe("answer after the end");
  });

  test("the target may end its direction first", async () => {
    const heard = new PassThrough();
    const far = new PassThrough();
    const target = Duplex.from({ readable: far, writable: heard });
    await using fixture = await open({ clock: systemClock, open: async () => target });
    const stream = await fixture.asking.open("holder");
    far.end("all that I have");
    expect(await textOf(stream)).toBe("all that I have");
    stream.end("thanks");
    expect(await textOf(heard)).toBe("thanks");
  });

  test("a target that fails fails its stream, and no other", async () => {
    const targets: PassThrough[] = [];
    const target = async (): Promise<Duplex> => {
      const one = new PassThrough();
      targets.push(one);
      return one;
    };
    await using fixture = await open({ clock: systemClock, open: target });
    const failing = await fixture.asking.open("holder");
    const other = await fixture.asking.open("holder");
    const failed = expect(textOf(failing)).rejects.toThrow();
    targets[0]?.destroy();
    await failed;
    other.end("unharmed");
    expect(await textOf(other)).toBe("unharmed");
  });

  test("a stream that is destroyed closes its target", async () => {
    const target = new PassThrough();
    await using fixture = await open({ clock: systemClock, open: async () => target });
    const stream = await fixture.asking.open("holder");
    stream.on("error", () => {});
    stream.destroy();
    await closeOf(target);
    expect(target.destroyed).toBe(true);
  });

  test("a refusal arrives as a Fault with its code and its sentence", async () => {
    const refusal = new Fault(
      "nothing_listens",
      "no process of run t1#1 listens on port 80 – “yet”",
      {
        retry: "later",
      },
    );
    const target = async (): Promise<Duplex> => {
      throw refusal;
    };
    await using fixture = await open({ clock: systemClock, open: target });
    const { code, message, retry } = refusal;
    await expect(fixture.asking.open("port-80")).rejects.toMatchObject({ code, message, retry });
  });

  test("an end that failed otherwise says no more than that", async () => {
    const target = async (): Promise<Duplex> => {
      throw new Error("/secret/path is missing");
    };
    await using fixture = await open({ clock: systemClock, open: target });
    await expect(fixture.asking.open("holder")).rejects.toMatchObject({ code: "tunnel_failed" });
  });

  test("a stream whose caller gives up tells the other end", async () => {
    const given = Promise.withResolvers<void>();
    const target = (_name: string, signal: AbortSignal): Promise<Duplex> => {
      signal.addEventListener("abort", () => given.resolve());
      return new Promise(() => {});
    };
    await using fixture = await open({ clock: systemClock, open: target });
    const reason = new Error("the caller left");
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(reason), 50);
    await expect(fixture.asking.open("holder", leaving.signal)).rejects.toBe(reason);
    await given.promise;
  });

  test("an end that does not answer is not waited for longer than the limit", async () => {
    const clock = new ManualClock();
    await using fixture = await open({ clock, open: () => new Promise(() => {}) });
    const refused = expect(fixture.asking.open("holder")).rejects.toMatchObject({
      code: "tunnel_silent",
    });
    await clock.advance(tunnelLimits.openMs);
    await refused;
  });

  test("hundreds of streams are open at once, and one beyond the limit is refused", async () => {
    await using fixture = await open({ clock: systemClock, open: echo });
    const { streamsMax } = tunnelLimits;
    const streams = await Promise.all(
      Array.from({ length: streamsMax }, () => fixture.asking.open("holder")),
    );
    await expect(fixture.asking.open("holder")).rejects.toMatchObject({ code: "too_many_streams" });
    const texts = streams.map((stream, index) => {
      stream.end(`stream ${index}`);
      return textOf(stream);
    });
    expect(await Promise.all(texts)).toEqual(streams.map((_, index) => `stream ${index}`));
  });
}

function backpressureContract(open: OpenFixture): void {
  test("a stopped reader costs at most 1 MiB in each process, and slows no other stream", async () => {
    const flood = new Flood();
    const target = async (name: string): Promise<Duplex> =>
      Duplex.from(name === "port-1" ? flood : new Flood(64 * mebibyte));
    await using fixture = await open({ clock: systemClock, open: target });
    const stopped = await fixture.asking.open("port-1");
    stopped.on("error", () => {});
    expect(await settled(() => flood.taken)).toBeLessThanOrEqual(mebibyte);
    const drain = new Drain();
    await pipeline(await fixture.asking.open("port-2"), drain);
    expect(drain.bytes).toBe(64 * mebibyte);
    expect(flood.taken).toBeLessThanOrEqual(mebibyte);
  });

  test("a target that reads nothing stops its writer after 1 MiB, and no other", async () => {
    const target = async (name: string): Promise<Duplex> =>
      name === "port-1" ? new Duplex({ read() {}, write() {} }) : echo();
    await using fixture = await open({ clock: systemClock, open: target });
    const stopped = await fixture.asking.open("port-1");
    const flood = new Flood();
    stopped.on("error", () => {});
    flood.pipe(stopped);
    expect(await settled(() => flood.taken)).toBeLessThanOrEqual(mebibyte);
    const fast = await fixture.asking.open("port-2");
    const drain = new Drain();
    await Promise.all([pipeline(new Flood(32 * mebibyte), fast), pipeline(fast, drain)]);
    expect(drain.bytes).toBe(32 * mebibyte);
  });

  test("both directions of a slow link are full, and everything arrives", async () => {
    const size = 8 * mebibyte;
    const target = async (): Promise<Duplex> =>
      Duplex.from({ readable: new Flood(size), writable: new Drain() });
    await using fixture = await open({ clock: systemClock, open: target, bytesPerMs: 32 * 1024 });
    const copies = Array.from({ length: 8 }, async () => {
      const stream = await fixture.asking.open("holder");
      const drain = new Drain();
      await Promise.all([pipeline(new Flood(size), stream), pipeline(stream, drain)]);
      return drain.bytes;
    });
    expect(await Promise.all(copies)).toEqual(copies.map(() => size));
  });
}

function endContract(open: OpenFixture): void {
  test("when the process at one end dies, both ends and their streams are closed within a second", async () => {
    const target = new PassThrough();
    await using fixture = await open({ clock: systemClock, open: async () => target });
    const stream = await fixture.asking.open("holder");
    const failed = expect(textOf(stream)).rejects.toThrow();
    const start = performance.now();
    fixture.relay.cut();
    await Promise.all([fixture.asking.closed, fixture.serving.closed, failed]);
    await closeOf(target);
    expect(performance.now() - start).toBeLessThan(1_000);
    await expect(fixture.asking.open("holder")).rejects.toMatchObject({ code: "tunnel_closed" });
  });

  test("a closed tunnel closes the other end", async () => {
    await using fixture = await open({ clock: systemClock, open: echo });
    fixture.asking.close();
    await expect(bothClosed(fixture)).resolves.toBeDefined();
  });

  test("a silent link is closed at both ends within 20 s", async () => {
    const clock = new ManualClock();
    await using fixture = await open({ clock, open: echo });
    fixture.relay.silence();
    await clock.advance(20_000);
    await expect(bothClosed(fixture)).resolves.toBeDefined();
  });

  test("an idle link stays open, and carries something at least every 15 s", async () => {
    const clock = new ManualClock();
    await using fixture = await open({ clock, open: echo });
    for (let second = 0; second < 120; second += 5) {
      await clock.advance(5_000);
      await sleep(20);
    }
    const stream = await fixture.asking.open("holder");
    stream.end("still here");
    expect(await textOf(stream)).toBe("still here");
  });
}
