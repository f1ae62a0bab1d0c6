/** The limits that several parts share. */
export const limits = {
  /**
   * The largest event body: evidence is counts and neighbours, and manifests are stored by digest, so a larger event is
   * a mistake.
   */
  eventBodyBytesMax: 256 * 1024,
  /**
   * The most streams in one append, which is one statement; a fan-out to more streams is divided into several appends.
   */
  writesPerAppendMax: 256,
  /** The largest configuration: a trial gets it in an environment variable, and the kernel refuses 128 KiB. */
  configBytesMax: 96 * 1024,
  /** The largest packed model code, without data; Determined's limit is 95 MB. */
  contextBytesMax: 96 * 1024 * 1024,
  /** The most trials of one comparison: more curves cannot be distinguished. */
  comparedTrialsMax: 100,
  /** How long a read waits for a given position before it returns 503. */
  readYourWritesMs: 2_000,
} as const;
