/**
 * A client of Watch that keeps a copy of its topics: it reads lists, follows the stream, and reconnects at its cursor.
 */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { WatchFrame } from "@trainyard/contracts/api";

type ListKind = "experiments" | "trials" | "agents";

export type WatchedList = {
  readonly kind: ListKind;
  readonly experiment: string;
  readonly filter: string;
};

export type WatchedSeries = {
  readonly kind: "points" | "lines";
  readonly experiment: string;
  /** The id of a trial; empty for all. */
  readonly id: string;
};

export type WatchedTopic = WatchedList | WatchedSeries;

type Document = { readonly id: string };

/** The client's copy of a topic. */
export type Mirror = {
  readonly topic: WatchedTopic;
  readonly documents: Map<string, Document>;
  /** Positions of points, or cursors of lines, in the order of their arrival. */
  readonly positions: number[];
  /** The position of the list, at which the stream begins. */
  position: string;
};

const retryMs = 200;

export const isSeries = (topic: WatchedTopic): topic is WatchedSeries =>
  topic.kind === "points" || topic.kind === "lines";

/** All documents of a list, and the position of its first page. */
export async function listed(client: Client, { kind, experiment, filter }: WatchedList) {
  const documents: Document[] = [];
  let position = "";
  for (let pageToken = ""; ; ) {
    const asked = { filter, pageSize: 500, pageToken };
    const page =
      kind === "experiments"
        ? await client.call("listExperiments", { ...asked, archived: true }, { outlast: true })
        : kind === "trials"
          ? await client.call("listTrials", { ...asked, experiment }, { outlast: true })
          : await client.call("listAgents", asked, { outlast: true });
    documents.push(
      ...page.items.map((item) => ({ ...item, id: "id" in item ? item.id : item.name })),
    );
    position ||= page.position;
    pageToken = page.nextPageToken;
    if (pageToken === "") return { documents, position };
  }
}

export class Watcher {
  readonly mirrors: readonly Mirror[];
  readonly violations: string[] = [];
  frames = 0;
  resets = 0;
  connections = 0;
  readonly #client: Client;
  #cursor = "";

  constructor(client: Client, topics: readonly WatchedTopic[]) {
    this.#client = client;
    this.mirrors = topics.map((topic) => ({
      ...{ topic, documents: new Map<string, Document>(), positions: [], position: "" },
    }));
  }

  /** Watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (const mirror of this.mirrors) await this.#read(mirror);
    while (!signal.aborted) {
      this.connections += 1;
      try {
        await this.#follow(signal);
      } catch (error) {
        const isRefused = error instanceof ApiError && error.problem.status < 429;
        if (isRefused) this.violations.push(`a stream was refused: ${error.message}`);
      }
      if (!signal.aborted) await delay(retryMs);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const topics = this.mirrors.map(({ topic, position }) =>
      isSeries(topic)
        ? { ...topic, position: "0" }
        : { ...topic, position, archived: topic.kind === "experiments" },
    );
    const request = { topics, after: this.#cursor };
    let names: readonly string[] = [];
    for await (const { id, message } of this.#client.stream("watch", request, { signal })) {
      const { frame } = message;
      this.frames += 1;
      if (frame.case === "opened") names = frame.value.topics;
      else if (frame.case !== "bookmark") await this.#take(frame, names);
      if (id !== "") this.#cursor = id;
    }
  }

  async #take(frame: Plain<WatchFrame>["frame"], names: readonly string[]): Promise<void> {
    if (frame.case === "reset") {
      this.resets += 1;
      await this.#reset(frame.value.topic, names, frame.value.reason);
      return;
    }
    if (frame.case === undefined || frame.case === "opened" || frame.case === "bookmark") return;
    for (const [index, mirror] of this.mirrors.entries()) {
      if (names[index] === frame.value.topic) this.#apply(mirror, frame);
    }
  }

  #apply(mirror: Mirror, frame: Plain<WatchFrame>["frame"]): void {
    if (frame.case === "change") {
      const { id, document } = frame.value;
      mirror.documents.set(id, { ...document.value, id });
    }
    if (frame.case === "gone") mirror.documents.delete(frame.value.id);
    const positions =
      frame.case === "points"
        ? frame.value.items.map(({ position }) => Number(position))
        : frame.case === "lines"
          ? frame.value.items.map(({ cursor }) => Number(cursor))
          : [];
    for (const position of positions) {
      const last = mirror.positions.at(-1) ?? 0;
      if (position <= last)
        this.violations.push(`${mirror.topic.kind}: ${position} came after ${last}`);
      mirror.positions.push(position);
    }
  }

  /** No killed process changes the history of its data, so a series must never be reset. */
  async #reset(topic: string, names: readonly string[], reason: string): Promise<void> {
    for (const [index, mirror] of this.mirrors.entries()) {
      const isMeant = topic === "" ? !isSeries(mirror.topic) : names[index] === topic;
      if (!isMeant) continue;
      if (isSeries(mirror.topic))
        this.violations.push(`${mirror.topic.kind} were reset: ${reason}`);
      else await this.#read(mirror);
    }
  }

  async #read(mirror: Mirror): Promise<void> {
    if (isSeries(mirror.topic)) return;
    const { documents, position } = await listed(this.#client, mirror.topic);
    mirror.documents.clear();
    for (const document of documents) mirror.documents.set(document.id, document);
    mirror.position = position;
  }
}
