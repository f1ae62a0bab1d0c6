/**
 * The payload of all compared implementations: events of about 250 bytes of JSON, with about 190 bytes of attributes.
 */

export const category = "measurement";
export const eventType = "dev.trainyard.measurement.ValidationReported.v1";
export const eventsPerStream = 32;

/** Returns the proto JSON of a ValidationReported. */
export function body(n: number): string {
  return JSON.stringify({
    trial: `12.${n % 1000}`,
    run: 1,
    step: n,
    scalars: {
      validation_loss: 1 / (n + 1),
      validation_accuracy: 0.9171,
      precision: 0.8843,
      recall: 0.9032,
      learning_rate: 0.0003,
      gradient_norm: 1.7320508,
      seconds_per_batch: 0.0431,
    },
    reportKey: `0-${n}`,
  });
}

export const meta = {
  // The source of the role that appends, as every service sets its own.
  source: "/trainyard/bench",
  workspace: "research",
  correlationid: "experiment-12",
  causationid: "",
  authid: "u-7f3a",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};
export const metaJson = JSON.stringify(meta);

/** Returns (stream, version) pairs; each caller fills one stream after the other. */
export class Streams {
  readonly #prefix: string;
  readonly #perStream: number;
  readonly #at = new Map<number, number>();
  static #made = 0;

  constructor(perStream: number = eventsPerStream) {
    this.#perStream = perStream;
    Streams.#made += 1;
    this.#prefix = `${category}-${process.pid}.${Streams.#made}`;
  }

  /** Returns the caller's next stream and version, and takes `count` versions of it. */
  next(caller: number, count = 1): { stream: string; version: number; n: number } {
    const n = this.#at.get(caller) ?? 0;
    this.#at.set(caller, n + count);
    const perStream = Math.max(this.#perStream, count);
    const stream = `${this.#prefix}.${caller + 1}.${Math.floor(n / perStream)}`;
    return { stream, version: n % perStream, n };
  }
}
