/** A tab that watches, for tests. */
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { TestGateway } from "./test-gateway.ts";
import { type ReceivedFrame, watching } from "./watching.ts";

const within = { timeout: 5_000, interval: 50 };

type Caller = Pick<TestGateway, "url" | "token">;

/** A tab that watches. Frames name the topics by their places in the request. */
export class WatchTab implements Disposable {
  readonly frames: ReceivedFrame[] = [];
  #names: readonly string[] = [];
  #problem = "";
  #hasEnded = false;
  #stop = new AbortController();

  static open(caller: Caller, asked: readonly JsonObject[], after = ""): WatchTab {
    const tab = new WatchTab();
    void tab.#run(caller, asked, after);
    return tab;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #run(caller: Caller, asked: readonly JsonObject[], after: string): Promise<void> {
    const frames = watching(caller, { topics: [...asked], after });
    this.#stop.signal.addEventListener("abort", () => void frames.return(undefined));
    try {
      for await (const one of frames) {
        this.#names = (one.frame["opened"]?.["topics"] as string[] | undefined) ?? this.#names;
        this.frames.push(one);
      }
    } catch (error) {
      this.#problem = String(error);
    } finally {
      this.#hasEnded = true;
    }
  }

  /** The sent frames without bookmarks: the kind, the place of the topic, and the id of the document. */
  get said(): readonly string[] {
    return this.frames.flatMap(({ frame }) => {
      const [[kind, content] = ["bookmark"]] = Object.entries(frame);
      if (kind === "bookmark" || kind === "opened") return [];
      const { topic, id } = (content ?? {}) as { topic?: string; id?: string };
      const at = topic === "" ? "all" : String(this.#names.indexOf(topic ?? "?"));
      return [[kind, at, id].filter((part) => part !== undefined).join(" ")];
    });
  }

  get cursor(): string {
    return this.frames.findLast(({ id }) => id !== "")?.id ?? "";
  }

  /** The error of a refused or broken stream; empty for none. */
  get problem(): string {
    return this.#problem;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Waits for the next bookmark. */
  async bookmarked(): Promise<void> {
    const seen = this.frames.length;
    const isBookmark = ({ frame }: ReceivedFrame) => frame["bookmark"] !== undefined;
    await expect.poll(() => this.frames.slice(seen).some(isBookmark), within).toBe(true);
  }

  async opened(): Promise<this> {
    await expect.poll(() => this.frames.length, within).toBeGreaterThan(0);
    return this;
  }
}
