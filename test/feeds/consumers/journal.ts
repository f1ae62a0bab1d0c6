/**
 * The file in which a consumer keeps each event that it has dealt with, one a line. It is both the consumer's work and
 * its place, so a kill cannot separate them; a line that a kill cut off never was.
 */
import { existsSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";

export type Entry = {
  readonly sequence: number;
  readonly id: string;
  readonly stream: string;
  readonly epoch: string;
  /** The partition of Kafka; 0 elsewhere. */
  readonly partition: number;
};

export class Journal {
  /** The entries of earlier lives. */
  readonly earlier: readonly Entry[];
  readonly #fd: number;

  constructor(file: string) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
    this.earlier = entriesOf(whole);
    this.#fd = openSync(file, "a");
  }

  write(...entries: readonly Entry[]): void {
    const lines = entries.map(
      ({ sequence, id, stream, epoch, partition }) =>
        `${sequence} ${id} ${stream} ${epoch} ${partition}\n`,
    );
    writeSync(this.#fd, lines.join(""));
  }
}

/** Reads whole lines. */
export function entriesOf(text: string): readonly Entry[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [sequence, id = "", stream = "", epoch = "", partition] = line.split(" ");
      return { sequence: Number(sequence), id, stream, epoch, partition: Number(partition) };
    });
}
