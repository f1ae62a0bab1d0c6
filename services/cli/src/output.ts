/** Output to stdout: tables for people, or API messages as proto JSON. Everything else goes to stderr. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Plain } from "@trainyard/contracts";
import { codecOf } from "@trainyard/contracts/codec";

export type OutputFormat = "table" | "json";

export type Column<Item> = {
  readonly title: string;
  readonly value: (item: Item) => string;
  readonly right?: boolean;
};

export class Output {
  readonly format: OutputFormat;

  constructor(format: OutputFormat) {
    this.format = format;
  }

  get json(): boolean {
    return this.format === "json";
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Writes bytes to stdout, for a redirect to a file. */
  bytes(content: Uint8Array): void {
    process.stdout.write(content);
  }

  /** Prints progress or a note to stderr, apart from the result. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  message<Schema extends DescMessage>(schema: Schema, message: Plain<MessageShape<Schema>>): void {
    this.line(this.jsonText(schema, message));
  }

  jsonText<Schema extends DescMessage>(
    schema: Schema,
    message: Plain<MessageShape<Schema>>,
  ): string {
    const codec = codecOf<Plain<MessageShape<Schema>>>(schema);
    return JSON.stringify(codec.toFullJson(message));
  }

  /** Prints one API message as JSON, or its most useful fields. */
  show<Schema extends DescMessage>(
    schema: Schema,
    message: Plain<MessageShape<Schema>>,
    fields: () => readonly (readonly [string, string])[],
  ): void {
    if (this.json) this.message(schema, message);
    else this.fields(fields());
  }

  fields(fields: readonly (readonly [string, string])[]): void {
    const width = Math.max(...fields.map(([name]) => name.length));
    for (const [name, value] of fields) {
      if (value !== "") this.line(`${name.padEnd(width)}  ${printableLines(value)}`);
    }
  }

  table<Item>(items: readonly Item[], columns: readonly Column<Item>[]): void {
    const cells = items.map((item) => columns.map((column) => printable(column.value(item))));
    const titles = columns.map((column) => column.title);
    // Computed with reduce, because Math.max(...rows) fails at about 125,000 arguments.
    const widths = titles.map((title, column) =>
      cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
    );
    for (const row of [titles, ...cells]) {
      const padded = row.map((cell, column) =>
        columns[column]?.right === true
          ? cell.padStart(widths[column] ?? 0)
          : cell.padEnd(widths[column] ?? 0),
      );
      this.line(padded.join("  ").trimEnd());
    }
  }
}

/** Escapes control characters and line ends: a name may have any characters. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${code}`;
  });
}

/** Escapes the control characters of a text, and keeps its line ends. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Returns the first line of a reason, without its traceback. */
export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

export function time(ms: number | undefined): string {
  return ms === undefined ? "" : new Date(ms).toISOString().replace("T", " ").slice(0, 19);
}

/** Formats a number with six significant digits: enough to compare, short enough for a table. */
export function number(value: number | undefined): string {
  return value === undefined ? "" : String(Number(value.toPrecision(6)));
}

/** Formats a duration in its largest units, such as "1h 30m". */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const told = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return told.length === 0 ? "0s" : told.join(" ");
}
