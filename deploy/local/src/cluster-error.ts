/** Something that a person must know or do; the message is one clear sentence for them. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly code: string;

  constructor(code: string, sentence: string, options: { cause?: unknown } = {}) {
    super(sentence, options);
    this.code = code;
  }
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a failed system call, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
