import { type Problem, unavailable } from "../http/problem.ts";
import type { Place } from "./core/series.ts";
import type { LogPlace } from "./watch-cursor.ts";

/** The place of a stream after a frame. */
export type Mark = { readonly of: "log"; readonly at: LogPlace } | SeriesMark;

export type SeriesMark = {
  readonly of: "series";
  readonly name: string;
  readonly place: Place;
  /** Whether the series has ended, so that nothing follows. */
  readonly isOver: boolean;
};

/** A frame for one watcher; all watchers of a topic share its text, and its message if it is one. */
export type Frame<Message = unknown> = {
  /** The text of the frame; empty for a mark alone. */
  readonly text: string;
  readonly message?: Message;
  readonly mark?: Mark;
};

/** The characters that a frame needs besides its text. */
const frameCharacters = 64;

export const readsTooSlowly = (): Problem =>
  unavailable("the client reads too slowly: it can resume at its cursor");

export class WatchQueue<Own extends Frame = Frame> {
  readonly #charactersMax: number;
  #frames: Own[] = [];
  #characters = 0;
  /** Whether the watcher was too slow. */
  hasOverflowed = false;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** Adds a frame; returns false if the watcher reads so slowly that the queue is full. */
  push(frames: readonly Own[]): boolean {
    for (const frame of frames) {
      this.#characters += frame.text.length + frameCharacters;
      this.#frames.push(frame);
    }
    this.#wake();
    if (this.#characters > this.#charactersMax) this.hasOverflowed = true;
    return !this.hasOverflowed;
  }

  /** Ends the queue and drops its frames: a slow client uses no memory, and resumes at its cursor. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#frames = [];
    this.#wake();
  }

  /** Yields frames until the signal aborts. Throws the error with which the queue was ended. */
  async *frames(signal: AbortSignal): AsyncGenerator<Own> {
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
        if (this.#failure !== null) throw this.#failure.error;
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
