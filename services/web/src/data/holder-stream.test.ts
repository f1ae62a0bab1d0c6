import { expect, test } from "vitest";
import { dialHolder, type Socket } from "./holder-stream.ts";

function socket() {
  const sent: number[][] = [];
  const one: Socket & { isClosed: boolean } = {
    binaryType: "blob",
    readyState: 1,
    onopen: null,
    onclose: null,
    onmessage: null,
    isClosed: false,
    send: (data) => void sent.push([...(data as Uint8Array)]),
    close() {
      one.isClosed = true;
      one.onclose?.({ code: 1006, reason: "" });
    },
  };
  const arrive = (...bytes: readonly number[]): void =>
    one.onmessage?.({ data: Uint8Array.from(bytes).buffer });
  return { one, sent, arrive };
}

const signal = new AbortController().signal;

/** Opens a stream. Returns both of its ends. */
async function opened() {
  const played = socket();
  const paths: string[] = [];
  const dialled = dialHolder("t12", signal, (path) => {
    paths.push(path);
    return played.one;
  });
  played.one.onopen?.();
  return { ...played, paths, stream: await dialled };
}

test("a stream has the bytes of each message in order, until an empty one ends it", async () => {
  const { stream, sent, arrive, paths } = await opened();
  expect(paths).toEqual(["/api/v1/tasks/t12/streams/terminal"]);
  arrive(1, 2);
  arrive(3);
  arrive();
  const read: number[] = [];
  for await (const chunk of stream.chunks) read.push(...chunk);
  expect(read).toEqual([1, 2, 3]);
  await stream.write(Uint8Array.of(7, 8));
  expect(sent).toEqual([[7, 8]]);
});

test("a stream whose WebSocket is closed before its end is lost, after what has arrived", async () => {
  const { stream, one, arrive } = await opened();
  arrive(1);
  one.close();
  const chunks = stream.chunks[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toEqual(Uint8Array.of(1));
  await expect(chunks.next()).rejects.toMatchObject({ code: "link_lost", retry: "later" });
});

test("a stream whose reader is far behind drops what has arrived, and still writes", async () => {
  const { stream, sent, one } = await opened();
  for (let count = 0; count < 5; count += 1) {
    one.onmessage?.({ data: new Uint8Array(1024 * 1024).buffer });
  }
  const chunks = stream.chunks[Symbol.asyncIterator]();
  await expect(chunks.next()).rejects.toMatchObject({ code: "reader_behind", retry: "now" });
  await stream.write(Uint8Array.of(3));
  expect([sent, one.isClosed]).toEqual([[[3]], false]);
});

test.each([
  [4503, "not_connected: the run waits for a place", "the run waits for a place", "later"],
  [4409, "not_connected: run t12#1 has ended", "run t12#1 has ended", "never"],
  [1011, "", "the server is away", "later"],
])("a WebSocket that is closed with %i is a fault: %s", async (code, reason, message, retry) => {
  const { stream, one } = await opened();
  one.onclose?.({ code, reason });
  const chunks = stream.chunks[Symbol.asyncIterator]();
  await expect(chunks.next()).rejects.toMatchObject({ message, retry });
});

test("a WebSocket that is not opened is a fault that may pass", async () => {
  const played = socket();
  const dialled = dialHolder("t12", signal, () => played.one);
  played.one.close();
  await expect(dialled).rejects.toMatchObject({ code: "link_lost", retry: "later" });
});
