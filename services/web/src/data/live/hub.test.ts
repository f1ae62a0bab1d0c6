import { ApiError, type StreamedMessage } from "@trainyard/client";
import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { LiveHub } from "./hub.ts";
import { type FromHub, limits, topicKey, type Wanted } from "./protocol.ts";

type Message = StreamedMessage<ReplyOf<"watch">>;
type Frame = ReplyOf<"watch">["frame"];

/** A stream that the test plays: it records the hub's requests and emits frames. */
class PlayedStream {
  readonly request: RequestInitOf<"watch">;
  readonly signal: AbortSignal;
  #messages: Message[] = [];
  #failure: Error | null = null;
  #wake = (): void => {};

  constructor(request: RequestInitOf<"watch">, signal: AbortSignal) {
    this.request = request;
    this.signal = signal;
    signal.addEventListener("abort", () => this.#wake());
  }

  get keys(): readonly string[] {
    return (this.request.topics ?? []).map(({ filter = "" }) => filter);
  }

  async send(frame: Frame, id = ""): Promise<void> {
    this.#messages.push({ id, message: { frame } });
    this.#wake();
    await settled();
  }

  async opened(id: string): Promise<void> {
    const topics = this.keys.map((_, index) => `t${index}`);
    await this.send({ case: "opened", value: { topics } }, id);
  }

  async fail(error: Error): Promise<void> {
    this.#failure = error;
    this.#wake();
    await settled();
  }

  async *read(): AsyncGenerator<Message> {
    while (!this.signal.aborted) {
      yield* this.#messages.splice(0);
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

function world() {
  let nowMs = 1_000_000;
  let timers: { readonly atMs: number; readonly call: () => void }[] = [];
  const streams: PlayedStream[] = [];
  const hub = new LiveHub({
    stream: (request, signal) => {
      const stream = new PlayedStream(request, signal);
      streams.push(stream);
      return stream.read();
    },
    nowMs: () => nowMs,
    after: (ms, then) => {
      const timer = { atMs: nowMs + ms, call: then };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  });
  const pass = async (ms: number): Promise<void> => {
    const endMs = nowMs + ms;
    for (;;) {
      const next = timers
        .filter(({ atMs }) => atMs <= endMs)
        .toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      timers = timers.filter((one) => one !== next);
      nowMs = next.atMs;
      next.call();
      await settled();
    }
    nowMs = endMs;
  };
  const tab = (...wanted: Wanted[]) => {
    const heard: FromHub[] = [];
    const hear = hub.attach((message) => heard.push(message));
    const want = (...topics: Wanted[]) => hear({ kind: "want", topics });
    if (wanted.length > 0) want(...wanted);
    const frames = () => heard.flatMap((one) => (one.kind === "frames" ? one.frames : []));
    const resets = () => heard.flatMap((one) => (one.kind === "reset" ? one.keys : []));
    const state = () => heard.findLast((one) => one.kind === "status")?.status.state;
    const refused = () => heard.findLast((one) => one.kind === "status")?.status.refused;
    return { heard, hear, want, frames, resets, state, refused };
  };
  const last = (): PlayedStream => {
    const stream = streams.at(-1);
    if (stream === undefined) throw new Error("no stream was opened");
    return stream;
  };
  return { streams, last, pass, tab };
}

/** A topic that the tests identify by its filter. */
const key = (filter: string): string => JSON.stringify({ kind: "experiments", filter });
const wanted = (filter: string, position = ""): Wanted => ({ key: key(filter), position });
const gone = (topic: string, id: string): Frame => ({ case: "gone", value: { topic, id } });
const bookmark = (cursor: string): Frame => ({ case: "bookmark", value: { cursor } });
const problem = (status: number, detail: string, code = "x") =>
  new ApiError({ type: "", title: "", status, detail, instance: "", code, errors: [] });

test("all tabs share one stream, and each gets the frames of its topics", async () => {
  const { streams, last, pass, tab } = world();
  const one = tab(wanted("a", "5"), wanted("b", "5"));
  const other = tab(wanted("b", "6"));
  await pass(limits.reopenMs);
  expect(streams).toHaveLength(1);
  await last().opened("c1");
  await last().send(gone(`t${last().keys.indexOf("a")}`, "1"));
  await last().send(gone(`t${last().keys.indexOf("b")}`, "2"));
  expect(one.frames().map(({ frame }) => frame.value)).toMatchObject([{ id: "1" }, { id: "2" }]);
  expect(other.frames().map((frame) => frame.key)).toEqual([key("b")]);
});

test("frames of a name that the server uses for two keys reach both", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("state = ERROR", "5"));
  const other = tab(wanted("state=ERROR", "5"));
  await pass(limits.reopenMs);
  await last().send({ case: "opened", value: { topics: ["t0", "t0"] } }, "c1");
  await last().send(gone("t0", "1"));
  expect(one.frames().map((frame) => frame.key)).toEqual([key("state = ERROR")]);
  expect(other.frames().map((frame) => frame.key)).toEqual([key("state=ERROR")]);
});

test("equal topics have one key", () => {
  const plain = topicKey({ kind: "trials", experiment: "1" });
  expect(topicKey({ experiment: "1", filter: "", archived: false, kind: "trials" })).toBe(plain);
  expect(topicKey({ kind: "trials", experiment: "1", archived: true })).not.toBe(plain);
});

test("points reach the tabs that follow their experiment", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("a"));
  const other = tab(wanted("b"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  const topic = `t${last().keys.indexOf("a")}`;
  const items = [{ position: "1", trial: "1.1" }];
  await last().send({ case: "points", value: { topic, items } } as Frame);
  expect(one.frames().map(({ frame }) => frame.value)).toMatchObject([{ items }]);
  expect(other.frames()).toEqual([]);
});

test("a topic that a tab begins to show is followed from the position of its list", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("a", "40"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  await last().send(bookmark("c1"), "c1");
  one.want(wanted("a", "40"), wanted("b", "55"));
  await pass(limits.reopenMs);
  expect(last().request.topics).toMatchObject([
    { filter: "a", position: "" },
    { filter: "b", position: "55" },
  ]);
});

test("a second tab of a followed topic gets the frames since its read", async () => {
  const { streams, last, pass, tab } = world();
  tab(wanted("a", "40"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  await last().send(bookmark("c1"), "c1");
  tab(wanted("a", "44"));
  await pass(limits.reopenMs);
  expect(streams).toHaveLength(2);
  expect(last().request.topics).toMatchObject([{ filter: "a", position: "44" }]);
});

test("a new stream begins a little before the last cursor", async () => {
  const { streams, last, pass, tab } = world();
  const one = tab(wanted("a", "1"));
  await pass(limits.reopenMs);
  await last().opened("c0");
  for (const cursor of ["c1", "c2", "c3", "c4", "c5"]) {
    await pass(1_000);
    await last().send(bookmark(cursor), cursor);
  }
  one.want(wanted("a", "1"), wanted("b", "9"));
  await pass(limits.reopenMs);
  expect(streams).toHaveLength(2);
  expect(last().request.after).toBe("c2");
});

test("a read without a position is repeated when the first stream opens", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("a"), wanted("b", "3"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  expect(one.resets()).toEqual([key("a")]);
});

test("silence is a lost connection: the tab reports it, and the next stream begins at the last cursor", async () => {
  const { streams, last, pass, tab } = world();
  const one = tab(wanted("a", "1"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  expect(one.state()).toBe("live");
  await pass(limits.silenceMs);
  expect(one.state()).toBe("lost");
  await pass(limits.againMs);
  expect(streams).toHaveLength(2);
  expect(last().request.after).toBe("c1");
  await last().opened("c2");
  expect(one.state()).toBe("live");
});

test("positions are sent again until the stream has confirmed that it reached them", async () => {
  const { last, pass, tab } = world();
  tab(wanted("a", "7"));
  await pass(limits.reopenMs);
  await last().fail(new Error("broke off"));
  await pass(limits.againMs);
  expect(last().request.topics).toMatchObject([{ filter: "a", position: "7" }]);
});

test("a topic that the server refuses does not end the others", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("good", "1"), wanted("bad", "1"));
  await pass(limits.reopenMs);
  const at = last().keys.indexOf("bad");
  await last().fail(problem(400, `topics[${at}].filter, column 1: no field`));
  await pass(limits.againMs);
  expect(last().keys).toEqual(["good"]);
  await last().opened("c1");
  expect(one.heard.findLast((said) => said.kind === "status")?.status).toMatchObject({
    state: "live",
    refused: [key("bad")],
  });
});

test("a refused topic is retried after a minute", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("good", "1"), wanted("slow", "1"));
  await pass(limits.reopenMs);
  await last().fail(problem(400, `topics[${last().keys.indexOf("slow")}].filter is too slow`));
  await pass(limits.againMs);
  for (let second = 2; second < limits.refusedMs / 1_000; second += 1) {
    await last().send(bookmark(`c${second}`), `c${second}`);
    await pass(1_000);
  }
  expect(last().keys).toEqual(["good"]);
  await pass(1_000);
  expect(last().keys.toSorted()).toEqual(["good", "slow"]);
  expect(one.refused()).toEqual([]);
});

test("a refusal is forgotten once no tab shows its topic, so that reopening the page retries it", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("good", "1"), wanted("bad", "1"));
  await pass(limits.reopenMs);
  await last().fail(problem(400, `topics[${last().keys.indexOf("bad")}].filter, column 1: x`));
  await pass(limits.againMs);
  expect(one.refused()).toEqual([key("bad")]);
  one.want(wanted("good", "1"));
  expect(one.refused()).toEqual([]);
  one.want(wanted("good", "1"), wanted("bad", "1"));
  await pass(limits.reopenMs);
  expect(last().keys.toSorted()).toEqual(["bad", "good"]);
});

test("a refused cursor refuses no topic: all topics restart, and their data is read again", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("a", "1"), wanted("b", "2"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  await last().send(bookmark("c1"), "c1");
  await last().fail(problem(400, "after is not a cursor of a stream", "invalid_cursor"));
  await pass(limits.againMs);
  expect(last().request.after).toBe("");
  expect(last().keys.toSorted()).toEqual(["a", "b"]);
  await last().opened("c9");
  expect(one.refused()).toEqual([]);
  expect(one.resets().toSorted()).toEqual([key("a"), key("b")]);
});

test("after a refused topic the others resume from their cursor", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("good", "1"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  await last().send(bookmark("c1"), "c1");
  one.want(wanted("good", "1"), wanted("bad", "1"));
  await pass(limits.reopenMs);
  await last().fail(problem(400, `topics[${last().keys.indexOf("bad")}].filter, column 1: x`));
  await pass(limits.againMs);
  expect(last().request.after).toBe("c1");
});

test("the end of the session is reported, and no request is sent until a new session", async () => {
  const { streams, last, pass, tab } = world();
  const one = tab(wanted("a", "1"));
  await pass(limits.reopenMs);
  await last().fail(problem(401, "no session"));
  await pass(60_000);
  expect(one.state()).toBe("signed-out");
  expect(streams).toHaveLength(1);
  one.hear({ kind: "reopen" });
  await pass(0);
  expect(streams).toHaveLength(2);
});

test("no stream is open while no tab shows a topic", async () => {
  const { last, pass, tab } = world();
  const one = tab(wanted("a", "1"));
  await pass(limits.reopenMs);
  one.want();
  await pass(limits.reopenMs);
  expect(last().signal.aborted).toBe(true);
  expect(one.state()).toBe("resting");
});

test("a tab that is silent for a minute is dropped", async () => {
  const { last, pass, tab } = world();
  tab(wanted("a", "1"));
  await pass(limits.reopenMs);
  await last().opened("c1");
  await pass(limits.tabGoneMs + 1_000);
  tab(wanted("b", "2"));
  await pass(limits.reopenMs);
  expect(last().keys).toEqual(["b"]);
});

test("a stream has at most the server's maximum of topics, those of the latest tab first", async () => {
  const { last, pass, tab } = world();
  tab(...Array.from({ length: 60 }, (_, at) => wanted(`old ${at}`, "1")));
  tab(...Array.from({ length: 10 }, (_, at) => wanted(`new ${at}`, "1")));
  await pass(limits.reopenMs);
  expect(last().keys).toHaveLength(limits.topicsMax);
  expect(last().keys.filter((filter) => filter.startsWith("new"))).toHaveLength(10);
});

test("topics beyond the maximum are reported, and read again once there is room for them", async () => {
  const { last, pass, tab } = world();
  const old = Array.from({ length: 60 }, (_, at) => wanted(`old ${at}`, "1"));
  const first = tab(...old);
  await pass(limits.reopenMs);
  await last().opened("c1");
  await last().send(bookmark("c1"), "c1");
  expect(first.refused()).toEqual([]);
  const second = tab(...Array.from({ length: 10 }, (_, at) => wanted(`new ${at}`, "1")));
  await pass(limits.reopenMs);
  await last().opened("c2");
  const leftOut = old.slice(54).map(({ key: name }) => name);
  expect(first.refused()).toEqual(leftOut);
  second.want(wanted("new 0", "1"));
  await pass(limits.reopenMs);
  await last().opened("c3");
  expect(last().keys).toHaveLength(61);
  expect(first.refused()).toEqual([]);
  expect(first.resets()).toEqual(leftOut);
});
