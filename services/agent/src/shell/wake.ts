/** Lets loops sleep until something may have changed, or a while has passed. Wakes that nobody waits for are kept. */
export class Wake {
  #pending = false;
  #resolve: (() => void) | null = null;

  readonly wake = (): void => {
    this.#pending = true;
    this.#resolve?.();
  };

  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        signal.addEventListener("abort", this.wake, { once: true });
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      signal.removeEventListener("abort", this.wake);
    }
    this.#resolve = null;
    this.#pending = false;
  }
}
