/** Time as a port: wall time for what people read, monotonic time for how long something took. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /** Calls back once after at least `afterMs`, unless disposed of before. */
  timer(afterMs: number, callback: () => void): Disposable;
}
