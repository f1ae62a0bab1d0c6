/**
 * One live stream for all tabs of a browser.
 *
 * Each tab sends the topics that it shows. The hub follows their union and forwards each frame to the tabs of its
 * topic. When topics are added or removed, the stream is reopened a little before its last cursor, so that no frame is
 * missed. A repeated frame changes nothing, since a frame contains the current document. A topic that the server
 * refuses is left out for a minute, so that it does not end the stream of the others. Topics beyond the maximum are
 * left out too, those of the oldest tabs first. The tabs learn which topics are left out.
 */
import { ApiError, type StreamedMessage } from "@trainyard/client";
import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { Cursors } from "./cursors.ts";
import {
  type FromHub,
  type FromTab,
  type LiveStatus,
  limits,
  restingStatus,
  type Topic,
  type Wanted,
} from "./protocol.ts";
import { refusedTopics } from "./refused.ts";

export type HubParts = {
  readonly stream: (
    request: RequestInitOf<"watch">,
    signal: AbortSignal,
  ) => AsyncIterable<StreamedMessage<ReplyOf<"watch">>>;
  readonly nowMs: () => number;
  /** Calls back once after a delay. Returns a function that cancels it. */
  readonly after: (ms: number, then: () => void) => () => void;
};

type Tab = {
  readonly tell: (message: FromHub) => void;
  wanted: readonly Wanted[];
  saidMs: number;
};

export class LiveHub {
  readonly #parts: HubParts;
  readonly #tabs = new Set<Tab>();
  readonly #cursors = new Cursors();
  /** Topics that are left out, each with the time of its refusal. */
  readonly #refused = new Map<string, number>();
  /** Topics that no stream has yet, each with the earliest position of the tabs that began to show it. */
  readonly #fresh = new Map<string, string>();
  /** Topics that were followed before they were left out: their data is read again when they are followed again. */
  readonly #behind = new Set<string>();
  /** The keys of the open stream. */
  #followed: readonly string[] = [];
  #stream: AbortController | null = null;
  #stopTimer = (): void => {};
  #stopSilence = (): void => {};
  #status: LiveStatus = restingStatus;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** Attaches a tab. Returns the function that receives the tab's messages. */
  attach(tell: (message: FromHub) => void): (message: FromTab) => void {
    const tab: Tab = { tell, wanted: [], saidMs: this.#parts.nowMs() };
    tell({ kind: "status", status: this.#status });
    return (message) => this.#hear(tab, message);
  }

  #hear(tab: Tab, message: FromTab): void {
    if (message.kind === "reopen") {
      this.#refused.clear();
      this.#status = restingStatus;
      this.#openAfter(0);
      return;
    }
    const added = message.topics.filter(({ key }) => !tab.wanted.some((one) => one.key === key));
    for (const { key, position } of added) {
      this.#fresh.set(key, earlier(this.#fresh.get(key) ?? "", position));
    }
    tab.saidMs = this.#parts.nowMs();
    tab.wanted = message.topics;
    this.#tabs.add(tab);
    for (const one of this.#tabs) {
      if (tab.saidMs - one.saidMs > limits.tabGoneMs) this.#tabs.delete(one);
    }
    const shown = new Set([...this.#tabs].flatMap((one) => one.wanted.map(({ key }) => key)));
    this.#forgetRefused((key) => !shown.has(key));
    for (const key of this.#behind) if (!shown.has(key)) this.#behind.delete(key);
    this.#sayLeftOut();
    const { keys } = this.#wantedKeys();
    const isGone = this.#followed.some((key) => !keys.includes(key));
    if (added.length > 0 || isGone) this.#openAfter(limits.reopenMs);
  }

  /** The wanted topics up to the maximum, the latest first, and those beyond it. */
  #wantedKeys(): { readonly keys: readonly string[]; readonly beyond: readonly string[] } {
    const keys = new Set(
      [...this.#tabs].toReversed().flatMap((tab) => tab.wanted.map(({ key }) => key)),
    );
    for (const key of this.#refused.keys()) keys.delete(key);
    const all = [...keys];
    return { keys: all.slice(0, limits.topicsMax), beyond: all.slice(limits.topicsMax) };
  }

  #openAfter(ms: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#parts.after(ms, () => void this.#open());
  }

  async #open(): Promise<void> {
    this.#stream?.abort();
    this.#stream = null;
    this.#stopSilence();
    const { keys, beyond } = this.#wantedKeys();
    for (const key of beyond) if (!this.#fresh.has(key)) this.#behind.add(key);
    this.#followed = keys;
    this.#sayLeftOut();
    if (keys.length === 0) {
      this.#say({ ...this.#status, state: "resting" });
      return;
    }
    const stream = new AbortController();
    this.#stream = stream;
    if (this.#status.state !== "lost") this.#say({ ...this.#status, state: "opening" });
    this.#listenForSilence(stream);
    try {
      await this.#read(keys, stream);
    } catch (error) {
      if (!stream.signal.aborted) this.#failed(error, keys);
    }
    if (stream.signal.aborted) return;
    this.#stream = null;
    this.#stopSilence();
    if (this.#status.state === "signed-out") return;
    this.#lose();
    this.#openAfter(limits.againMs);
  }

  async #read(keys: readonly string[], stream: AbortController): Promise<void> {
    const after = this.#cursors.before(this.#parts.nowMs() - limits.overlapMs);
    const fresh = keys.filter((key) => this.#fresh.has(key));
    const topics = keys.map((key) => ({
      ...(JSON.parse(key) as Topic),
      position: this.#fresh.get(key) ?? "",
    }));
    // A stream without a cursor begins at the current time: earlier reads without a position may be stale already.
    const isUnplaced = (key: string): boolean =>
      after === "" && (this.#fresh.get(key) ?? "") === "";
    const unread = keys.filter((key) => this.#behind.has(key) || isUnplaced(key));
    let keysOf = new Map<string, readonly string[]>();
    for await (const { id, message } of this.#parts.stream({ topics, after }, stream.signal)) {
      if (stream.signal.aborted) return;
      this.#heard(id, stream);
      const { frame } = message;
      if (frame.case === "opened") {
        keysOf = keysByName(frame.value.topics, keys);
        if (unread.length > 0) this.#tellAll({ kind: "reset", keys: unread });
        for (const key of unread) this.#behind.delete(key);
      } else if (frame.case === "change" || frame.case === "gone" || frame.case === "points") {
        const named = keysOf.get(frame.value.topic) ?? [];
        this.#tellAll({ kind: "frames", frames: named.map((key) => ({ key, frame })) });
      } else if (frame.case === "reset") {
        this.#tellAll({ kind: "reset", keys: keysOf.get(frame.value.topic) ?? keys });
      } else if (frame.case === "bookmark") {
        // The client reopens a broken stream with the same request; by then its cursor covers the positions.
        for (const topic of topics) topic.position = "";
        for (const key of fresh.splice(0)) this.#fresh.delete(key);
      }
    }
  }

  #heard(cursor: string, stream: AbortController): void {
    const nowMs = this.#parts.nowMs();
    if (cursor !== "") this.#cursors.add(cursor, nowMs);
    this.#say({ ...this.#status, state: "live", heardMs: nowMs });
    this.#listenForSilence(stream);
  }

  #listenForSilence(stream: AbortController): void {
    this.#stopSilence();
    this.#stopSilence = this.#parts.after(limits.silenceMs, () => {
      this.#lose();
      stream.abort();
      this.#openAfter(limits.againMs);
    });
  }

  #failed(error: unknown, keys: readonly string[]): void {
    if (!(error instanceof ApiError)) return;
    const { status, code } = error.problem;
    if (status === 401) this.#say({ ...this.#status, state: "signed-out" });
    else if (status >= 400 && status < 500 && status !== 429) {
      // The server does not know the cursor, which is independent of the topics: all topics restart.
      if (code === "invalid_cursor") this.#cursors.clear();
      else this.#refuse(refusedTopics(error.message, keys));
    }
  }

  #refuse(keys: readonly string[]): void {
    const nowMs = this.#parts.nowMs();
    for (const key of keys) this.#refused.set(key, nowMs);
    this.#sayLeftOut();
    this.#parts.after(limits.refusedMs, () => {
      const untilMs = this.#parts.nowMs() - limits.refusedMs;
      const isForgotten = this.#forgetRefused((_, atMs) => atMs <= untilMs);
      if (isForgotten && this.#status.state !== "signed-out") this.#openAfter(0);
    });
  }

  /** Forgets refusals. Returns whether there were any. */
  #forgetRefused(isOver: (key: string, atMs: number) => boolean): boolean {
    const over = [...this.#refused].filter(([key, atMs]) => isOver(key, atMs));
    for (const [key] of over) this.#refused.delete(key);
    if (over.length > 0) this.#sayLeftOut();
    return over.length > 0;
  }

  #sayLeftOut(): void {
    const refused = [...this.#refused.keys(), ...this.#wantedKeys().beyond];
    if (refused.join() !== this.#status.refused.join()) this.#say({ ...this.#status, refused });
  }

  #lose(): void {
    if (this.#status.state !== "lost") this.#say({ ...this.#status, state: "lost" });
  }

  /** A tab computes the age of its data itself: an unchanged status is sent once a second. */
  #say(status: LiveStatus): void {
    const { state, heardMs, refused } = this.#status;
    const isNew = status.state !== state || status.refused !== refused;
    if (!isNew && status.heardMs - heardMs < 1_000) return;
    this.#status = status;
    for (const tab of this.#tabs) tab.tell({ kind: "status", status });
  }

  #tellAll(message: Extract<FromHub, { kind: "frames" | "reset" }>): void {
    for (const tab of this.#tabs) {
      const wants = (key: string): boolean => tab.wanted.some((one) => one.key === key);
      if (message.kind === "frames") {
        const frames = message.frames.filter(({ key }) => wants(key));
        if (frames.length > 0) tab.tell({ kind: "frames", frames });
      } else {
        const keys = message.keys.filter(wants);
        if (keys.length > 0) tab.tell({ kind: "reset", keys });
      }
    }
  }
}

/** The server gives equal topics one name, so a name may have several keys. */
function keysByName(names: readonly string[], keys: readonly string[]) {
  return Map.groupBy(keys, (_, index) => names[index] ?? "");
}

/** The earlier of two positions; an empty position counts as none. */
function earlier(one: string, other: string): string {
  if (one === "" || other === "") return one || other;
  return Number(one) < Number(other) ? one : other;
}
