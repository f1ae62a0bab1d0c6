/** Frames on their way to one watcher, as texts that all watchers of a topic share. */
export type Frame = {
  /** The cursor after it; empty for none. */
  readonly id: string;
  readonly text: string;
};

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
      this.#characters += frame.text.length;
      this.#frames.push(frame);
    }
    this.#wake();
    return this.#characters <= this.#charactersMax;
  }

  /** Ends the queue, and drops what is in it: a client that does not read holds none of it, and resumes at its cursor. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#frames = [];
    this.#wake();
  }

  /** Until the signal aborts. Throws what the queue failed with. */
  async *frames(signal: AbortSignal): AsyncGenerator<Frame> {
    const stop = (): void => this.#wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        const frame = this.#frames.shift();
        if (frame !== undefined) {
          yield frame;
          this.#characters -= frame.text.length;
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
