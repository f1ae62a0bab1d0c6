/** An error that a person has to act on; its message is one clear sentence. */
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
