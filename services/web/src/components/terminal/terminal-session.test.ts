import { type Clock, Fault } from "@trainyard/kernel";
import {
  type ByteStream,
  encodeFrame,
  FrameDecoder,
  frameTypes,
  type Size,
} from "@trainyard/terminal";
import { expect, test, vi } from "vitest";
import { stateText } from "./state-text.ts";
import { type SessionState, TerminalSession } from "./terminal-session.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** A holder's end of one connection. */
function holder() {
  const arrived: Uint8Array[] = [];
  let wake = (): void => {};
  let cut = false;
  const got: string[] = [];
  const decoder = new FrameDecoder();
  async function* chunks() {
    for (;;) {
      const chunk = arrived.shift();
      if (chunk !== undefined) yield chunk;
      else if (cut) throw new Fault("link_lost", "the connection was closed", { retry: "later" });
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const stream: ByteStream = {
    chunks: chunks(),
    async write(bytes) {
      for (const { type, payload } of decoder.push(bytes)) {
        got.push(`${type} ${text.decode(payload)}`);
      }
    },
    close() {},
  };
  return {
    stream,
    got,
    send(type: keyof typeof frameTypes, payload: string | object) {
      const sent = typeof payload === "string" ? payload : JSON.stringify(payload);
      arrived.push(encodeFrame(frameTypes[type], utf8.encode(sent)));
      wake();
    },
    cut() {
      cut = true;
      wake();
    },
  };
}

const clock: Clock = {
  nowMs: () => 0,
  monotonicMs: () => 0,
  timer(_afterMs, callback) {
    queueMicrotask(callback);
    return { [Symbol.dispose]() {} };
  },
};
const own: Size = { columns: 90, rows: 30 };

function open(...holders: readonly ReturnType<typeof holder>[]) {
  const rest = [...holders];
  const drawn: string[] = [];
  const states: SessionState[] = [];
  const session = new TerminalSession(
    {
      screen: {
        async write(bytes) {
          drawn.push(text.decode(bytes));
        },
        reset: () => void drawn.push("reset"),
        resize: ({ columns, rows }) => void drawn.push(`${columns}x${rows}`),
      },
      terminal: "main",
      async dial() {
        const next = rest.shift();
        if (next === undefined) throw new Fault("gone", "it is gone", { retry: "never" });
        return next.stream;
      },
      clock,
      onState: (state) => void states.push(state),
    },
    own,
  );
  return { session, drawn, states, done: session.run(new AbortController().signal) };
}

test("a page draws the screen at its size, the output since, and the end", async () => {
  const only = holder();
  const { session, drawn, states, done } = open(only);
  only.send("opened", { name: "main", columns: 90, rows: 30 });
  only.send("sized", { columns: 90, rows: 30, offset: 3 });
  only.send("screen", "$ ");
  only.send("output", "ls");
  await vi.waitFor(() => expect(drawn).toEqual(["90x30", "reset", "$ ", "ls"]));
  session.typed("é\r");
  session.typedBytes("\x1b[M \xff");
  session.fitted(own);
  session.fitted({ columns: 70, rows: 20 });
  expect(only.got).toEqual([
    '0 {"open":"terminal","name":"main","columns":90,"rows":30}',
    "1 é\r",
    "1 \x1b[M \ufffd",
    '2 {"columns":70,"rows":20}',
  ]);
  only.send("ended", { code: 3 });
  await done;
  expect(states.map(({ kind }) => kind)).toEqual(["connecting", "connected", "connected", "ended"]);
});

test("a page that lost its connection gets the present screen by the next one, with its size of that time", async () => {
  const [one, two] = [holder(), holder()];
  const { session, drawn, states, done } = open(one, two);
  one.send("opened", { name: "main", columns: 90, rows: 30 });
  one.send("screen", "before");
  await vi.waitFor(() => expect(drawn).toContain("before"));
  one.cut();
  await vi.waitFor(() => expect(two.got).toHaveLength(1));
  session.typed("lost");
  session.fitted({ columns: 71, rows: 21 });
  two.send("opened", { name: "main", columns: 90, rows: 30 });
  two.send("screen", "after");
  two.send("ended", { signal: "SIGHUP" });
  await done;
  expect(drawn.slice(-2)).toEqual(["reset", "after"]);
  expect(two.got).toEqual(['0 {"open":"terminal","name":"main","columns":90,"rows":30}']);
  expect(states.map(({ kind }) => kind)).toContain("lost");
});

test("a refusal that stays is shown", async () => {
  const only = holder();
  const { states, done } = open(only);
  only.send("refused", { code: "ending", detail: "the task is ending" });
  await done;
  expect(states.at(-1)).toEqual({ kind: "refused", reason: "the task is ending" });
});

test.each<[SessionState, string]>([
  [{ kind: "connecting" }, "Connecting …"],
  [{ kind: "connected", size: own, notice: "" }, "Connected, 90 × 30."],
  [
    { kind: "connected", size: { columns: 80, rows: 30 }, notice: "" },
    "80 × 30, for another window. Type to use this one.",
  ],
  [{ kind: "connected", size: own, notice: "A stop was requested." }, "A stop was requested."],
  [
    { kind: "lost", reason: "the server is away" },
    "Not connected, trying again: the server is away.",
  ],
  [{ kind: "ended", ended: { code: 3 } }, "Ended with code 3."],
  [{ kind: "ended", ended: { signal: "SIGTERM" } }, "Ended by SIGTERM."],
  [{ kind: "refused", reason: "the task is ending" }, "Not connected: the task is ending."],
])("%j is said below the terminal", (state, said) => {
  expect(stateText(state, own)).toBe(said);
});
