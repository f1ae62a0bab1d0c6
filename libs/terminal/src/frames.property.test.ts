import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, type Frame, FrameDecoder } from "./frames.ts";
import { frameBytesMax, inputBytesMax } from "./limits.ts";
import { frameTypes, fromHolder, toHolder } from "./messages.ts";

const frames = fc.array(
  fc.record({
    type: fc.integer({ min: 0, max: 255 }),
    payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)),
  }),
  { maxLength: 10 },
);

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function decoded(chunks: readonly Uint8Array[], decoder = new FrameDecoder()): readonly Frame[] {
  return chunks.flatMap((chunk) => decoder.push(chunk));
}

test("frames are the same wherever the chunks of their stream begin and end", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(2_000), { maxLength: 30 }), (sent, cuts) => {
      const stream = joined(sent.map(({ type, payload }) => encodeFrame(type, payload)));
      const places = [0, ...cuts.map((cut) => cut % (stream.length + 1)), stream.length];
      const sorted = places.toSorted((a, b) => a - b);
      const chunks = sorted.map((start, index) => stream.subarray(start, sorted[index + 1]));
      const decoder = new FrameDecoder();
      expect(decoded(chunks, decoder)).toEqual(sent);
      expect(decoder.isBetweenFrames).toBe(true);
    }),
  );
});

test("a stream that is cut inside of a frame gives the frames before it, and shows the cut", () => {
  fc.assert(
    fc.property(frames, fc.nat(4_000), (sent, cut) => {
      const whole = sent.map(({ type, payload }) => encodeFrame(type, payload));
      const stream = joined(whole);
      const end = cut % (stream.length + 1);
      const decoder = new FrameDecoder();
      const read = decoded([stream.subarray(0, end)], decoder);
      expect(read).toEqual(sent.slice(0, read.length));
      const bytes = joined(whole.slice(0, read.length)).length;
      expect(decoder.isBetweenFrames).toBe(bytes === end);
    }),
  );
});

test("a frame may have 1 MiB and no more, and a longer one is refused at its header", () => {
  const largest = encodeFrame(17, new Uint8Array(frameBytesMax));
  expect(decoded([largest])[0]?.payload).toHaveLength(frameBytesMax);
  expect(() => encodeFrame(17, new Uint8Array(frameBytesMax + 1))).toThrow(/may have 1048576/);
  const header = new Uint8Array([17, 0, 0x10, 0, 1]);
  expect(() => new FrameDecoder().push(header)).toThrow(
    "a frame of the terminal protocol has 1048577 bytes, and may have 1048576",
  );
});

test("input of any length is sent in order, in frames that a signal need not wait long for", () => {
  const bytes = new Uint8Array(3 * inputBytesMax + 5).map((_, index) => index % 251);
  const read = decoded(toHolder.input(bytes));
  expect(read.map(({ type }) => type)).toEqual([1, 1, 1, 1]);
  expect(joined(read.map(({ payload }) => payload))).toEqual(bytes);
  expect(toHolder.input(new Uint8Array())).toEqual([]);
});

test("a client reads messages of the holder, passes over types of later versions, and refuses a payload without JSON", () => {
  const utf8 = new TextEncoder();
  const read = (type: number, payload: string) =>
    fromHolder({ type, payload: utf8.encode(payload) });
  expect(read(frameTypes.ended, '{"signal":"SIGTERM"}')).toEqual({
    type: "ended",
    signal: "SIGTERM",
  });
  expect(read(frameTypes.sized, '{"columns":80,"rows":24,"offset":7}')).toEqual({
    type: "size",
    columns: 80,
    rows: 24,
    offset: 7,
  });
  expect(read(frameTypes.notice, "a stop was requested")).toEqual({
    type: "notice",
    text: "a stop was requested",
  });
  expect(read(99, "anything")).toBeNull();
  expect(() => read(frameTypes.opened, "80x24")).toThrow("has no JSON object");
});
