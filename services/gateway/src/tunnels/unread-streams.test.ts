import { Duplex, duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { openTunnel, serveTunnel, tunnelLimits } from "@trainyard/tunnel";
import { expect, test } from "vitest";
import { tunnelRoomLimits } from "./limits.ts";
import { bytesIn, UnreadStreams } from "./unread-streams.ts";

const { unreadBytesMax, unreadLookMs } = tunnelRoomLimits;
const mebibyte = 1024 * 1024;

class Room {
  readonly clock = new ManualClock();
  readonly unread = new UnreadStreams(this.clock, createLogger("gateway", "silent"));

  /** A stream with waiting bytes, which the test changes. */
  stream(bytes: number): { readonly stream: Duplex; bytes: number; fault: Error | null } {
    const one = {
      stream: new Duplex({ read() {}, write() {} }),
      bytes,
      fault: null as Error | null,
    };
    one.stream.on("error", (error) => (one.fault = error));
    this.unread.watch(one.stream, () => one.bytes);
    return one;
  }

  look(): Promise<void> {
    return this.clock.advance(unreadLookMs);
  }
}

const isOpen = ({ stream }: { readonly stream: Duplex }): boolean => !stream.destroyed;

test("within the budget no stream is closed, however long its reader has stopped", async () => {
  const room = new Room();
  const one = room.stream(unreadBytesMax);
  await room.clock.advance(100 * unreadLookMs);
  expect(isOpen(one)).toBe(true);
});

test("beyond the budget the streams that have not moved for longest are closed, until the rest is within it", async () => {
  const room = new Room();
  const [oldest, moving] = [room.stream(60 * mebibyte), room.stream(180 * mebibyte)];
  await room.look();
  await room.look();
  moving.bytes -= 10 * mebibyte;
  const idle = room.stream(0);
  const later = room.stream(60 * mebibyte);
  await room.look();
  expect([oldest, moving, idle, later].map(isOpen)).toEqual([false, true, true, true]);
  expect(oldest.fault?.message).toContain("256 MiB waited for such readers");
});

test("of several streams that stopped at once, the one with the most bytes is closed", async () => {
  const room = new Room();
  const streams = [20, 120, 30].map((size) => room.stream(size * mebibyte));
  await room.look();
  await room.look();
  const [small, large, middle] = streams;
  if (small !== undefined) small.bytes = 200 * mebibyte;
  await room.look();
  expect([small, large, middle].map((one) => one !== undefined && isOpen(one))).toEqual([
    true,
    false,
    true,
  ]);
});

test("streams that are closed already are not counted", async () => {
  const room = new Room();
  const gone = room.stream(unreadBytesMax);
  gone.stream.destroy();
  await new Promise((resolve) => gone.stream.once("close", resolve));
  const one = room.stream(mebibyte);
  await room.look();
  expect(isOpen(one)).toBe(true);
});

test("streams of a tunnel that nobody reads are closed beyond the budget, and one that is read goes to its end", async () => {
  const [near, far] = duplexPair({ highWaterMark: 64 * mebibyte });
  const serving = serveTunnel(far, async (name) =>
    Duplex.from(async function* () {
      for (let sent = 0; name === "port-1" || sent < 8 * mebibyte; sent += 65_536) {
        yield Buffer.alloc(65_536);
        await setImmediate();
      }
    }),
  );
  const tunnel = openTunnel(near, { clock: systemClock });
  const unread = new UnreadStreams(systemClock, createLogger("gateway", "silent"), mebibyte);
  const open = async (name: string): Promise<Duplex> => {
    const stream = await tunnel.open(name);
    unread.watch(stream, () => bytesIn(stream));
    return stream;
  };
  const stopped = await Promise.all(Array.from({ length: 4 }, () => open("port-1")));
  const read = await buffer(await open("port-2"));
  expect(read.length).toBe(8 * mebibyte);
  const kept = (): readonly Duplex[] => stopped.filter(({ destroyed }) => !destroyed);
  await expect.poll(() => kept().length).toBe(mebibyte / tunnelLimits.streamWindowBytes);
  for (const stream of kept()) stream.on("error", () => {});
  tunnel.close();
  await serving.closed;
});
