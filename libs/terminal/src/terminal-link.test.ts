import { type Clock, Fault, isFault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { RepeatedAnswers } from "./answers.ts";
import { encodeFrame } from "./frames.ts";
import { type FromHolder, frameTypes, toHolder } from "./messages.ts";
import type { ByteStream } from "./stream.ts";
import { readerBehind, TerminalLink } from "./terminal-link.ts";

const utf8 = new TextEncoder();
const frame = (type: number, payload: object | string) =>
  encodeFrame(type, utf8.encode(typeof payload === "string" ? payload : JSON.stringify(payload)));
const opened = frame(frameTypes.opened, { name: "main", columns: 80, rows: 24 });
const screen = (text: string) => frame(frameTypes.screen, text);
const ended = frame(frameTypes.ended, { code: 5 });

/** Each wait is over at once, and recorded. */
function timeless(): { readonly clock: Clock; readonly waits: number[] } {
  const waits: number[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    timer(afterMs, callback) {
      waits.push(afterMs);
      queueMicrotask(callback);
      return { [Symbol.dispose]() {} };
    },
  };
  return { clock, waits };
}

type Played = ByteStream & { readonly written: Uint8Array[]; isClosed: boolean };

function played(chunks: readonly (Uint8Array | Error)[]): Played {
  async function* read() {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
  const stream: Played = {
    chunks: read(),
    written: [],
    isClosed: false,
    async write(bytes) {
      stream.written.push(bytes);
    },
    close: () => void (stream.isClosed = true),
  };
  return stream;
}

const codeOf = (error: unknown): unknown => (isFault(error) ? error.code : error);

/** Runs a link over these attempts. Returns what the viewer has seen, and the result. */
async function run(attempts: readonly (Played | Error)[]) {
  const { clock, waits } = timeless();
  const seen: string[] = [];
  const rest = [...attempts];
  const link = new TerminalLink(
    {
      async dial() {
        const next = rest.shift();
        if (next === undefined) throw new Fault("over", "no attempt is left", { retry: "never" });
        if (next instanceof Error) throw next;
        return next;
      },
      hello: () => ({ open: "terminal", name: "main", columns: 80, rows: 24 }),
      message(message: FromHolder) {
        if (message.type === "screen") seen.push(new TextDecoder().decode(message.bytes));
      },
      connected: () => void seen.push("connected"),
      lost: (reason) => void seen.push(reason),
    },
    clock,
  );
  const result = await link.run(new AbortController().signal).catch(codeOf);
  return { seen, result, waits };
}

const away = new Fault("not_connected", "the agent is away", { retry: "later" });

test("a broken connection is made again until the terminal has ended, with waits that grow", async () => {
  const last = played([opened, screen("two"), ended]);
  const { seen, result, waits } = await run([played([opened, screen("one")]), away, away, last]);
  expect(seen).toEqual([
    "connected",
    "one",
    "the connection was closed",
    "the agent is away",
    "the agent is away",
    "connected",
    "two",
  ]);
  expect(result).toMatchObject({ code: 5 });
  expect(last.written[0]).toEqual(
    toHolder.hello({ open: "terminal", name: "main", columns: 80, rows: 24 }),
  );
  expect(waits).toHaveLength(3);
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(100);
  expect(last.isClosed).toBe(true);
});

test.each([
  ["a refusal of the gateway", new Fault("gone", "the run has ended", { retry: "never" }), "gone"],
  ["a refusal of the holder", played([frame(frameTypes.refused, { code: "ending" })]), "ending"],
])("%s that stays ends the link", async (_what, attempt, code) => {
  expect((await run([attempt])).result).toBe(code);
});

test("a reader that is behind gets a new connection at once, and the one before takes input until then", async () => {
  const behind = played([opened, readerBehind()]);
  const next = played([opened, ended]);
  const { seen, waits } = await run([behind, next]);
  expect([seen, waits]).toEqual([["connected", "connected"], []]);
  expect([behind.isClosed, next.isClosed]).toEqual([true, true]);
});

test("the answers of a terminal to a repeated screen are not typed, and the keys of a person are", () => {
  let now = 1_000;
  const answers = new RepeatedAnswers({ ...timeless().clock, monotonicMs: () => now });
  const sent = [
    "\x1b[?1;2c",
    "\x1b[>0;276;0c",
    "\x1b[12;40R",
    "\x1b[?2026;2$y",
    "\x1b]11;rgb:00/00/00\x1b\\",
  ];
  for (const one of sent) expect(answers.without(one)).toBe(one);
  answers.screenShown(new Uint8Array());
  for (const one of sent) expect(answers.without(one)).toBe(one);
  answers.screenShown(utf8.encode("$ "));
  for (const one of [...sent, sent.join("")]) expect(answers.without(`${one}ls\r`)).toBe("ls\r");
  for (const one of ["ls\r", "\x03", "\x1b", "\x1b[A", "\x1b[15~", "\x1bOP", "\x1b[I", "c"]) {
    expect(answers.without(one)).toBe(one);
  }
  now += 501;
  for (const one of sent) expect(answers.without(one)).toBe(one);
});
