import type { Place } from "../core/watch/series.ts";
import { type Problem, unavailable } from "../http/problem.ts";
import type { LogPlace } from "./watch-cursor.ts";

/** How far a stream is after a frame. */
export type Mark =
  | { readonly of: "log"; readonly at: LogPlace }
  | { readonly of: "series"; readonly name: string; readonly place: Place };

/** A frame on its way to one watcher; its text is shared by all watchers of a topic. */
export type Frame = {
  /** Empty for a mark alone. */
  readonly text: string;
  readonly mark?: Mark;
};

/** Characters of a frame besides its text. */
const frameCharacters = 64;

export const readsTooSlowly = (): Problem =>
  unavailable("the client reads too slowly: it can resume at its cursor");

export class WatchQueue {
  readonly #charactersMax: number;
  #frames: Frame[] = [];
  #characters = 0;
  #failure: Error | null = null;
  #wake: () => void = () => {};

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** False when the watcher reads so slowly that nothing more fits. */
  push(frames: readonly Frame[]): boolean {
    for (const frame of frames) {
      this.#characters += frame.text.length + frameCharacters;
      this.#frames.push(frame);
    }
    this.#wake();
    return this.#characters <= this.#charactersMax;
  }

  /**
   * Ends the queue, and drops what is in it: a client that does not read holds none of it, and resumes at its cursor.
   */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#frames = [];
    this.#wake();
  }

  /** Yields frames until the signal aborts. Throws the failure of the queue. */
  async *frames(signal: AbortSignal): AsyncGenerator<Frame> {
    const stop = (): void => this.#wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        const frame = this.#frames.shift();
        if (frame !== undefined) {
          yield frame;
          this.#characters -= frame.text.length + frameCharacters;
          continue;
        }
        if (this.#failure !== null) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          if (signal.aborted) resolve();
        });
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}
