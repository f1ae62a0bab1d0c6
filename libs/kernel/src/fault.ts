/** Whether the same attempt may succeed: at once, later, or never without an outside change. */
export type Retry = "now" | "later" | "never";

/** A failure outside the program: a connection, a disk, a peer. It has the fields that a log line needs. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: string;
  readonly retry: Retry;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    detail: string,
    options: {
      retry: Retry;
      cause?: unknown;
      fields?: Readonly<Record<string, unknown>>;
    },
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retry = options.retry;
    this.fields = options.fields ?? {};
  }
}

export function isFault(error: unknown): error is Fault {
  return error instanceof Fault;
}
