/** Runs until the signal aborts. */
export interface Loop {
  run(signal: AbortSignal): Promise<void>;
  /** Retries what is parked under a key. Resolves with the reason with which the first of it failed again, or null. */
  retryParked?(key: string): Promise<string | null>;
}
