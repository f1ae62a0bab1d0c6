/**
 * The limits of a tunnel. A stopped reader costs less than 1 MiB in each process: its window, and a stream's buffers.
 */
export const tunnelLimits = {
  /** The bytes of a stream that its reader has not taken: 5 MB/s at a round trip of 100 ms. */
  streamWindowBytes: 512 * 1024,
  /**
   * The bytes of all streams that the link has not carried yet. The other end's process takes all that arrives, so a
   * stopped reader uses up none of it.
   */
  linkWindowBytes: 4 * 1024 * 1024,
  /** The largest frame: larger ones cost less time, and delay the frames of other streams longer. */
  frameBytesMax: 64 * 1024,
  /** The most streams of a tunnel that are open at once. */
  streamsMax: 1_024,
  /** The memory of all streams of a tunnel, in megabytes; beyond it new streams are refused. */
  memoryMegabytesMax: 640,
  /** The time in which the serving end answers a new stream. */
  openMs: 15_000,
  /** The largest message that is sent or taken: a message is in memory before its stream can wait. */
  messageBytesMax: 256 * 1024,
  /** The bytes that a stream over a WebSocket of its own hands to the socket without waiting. */
  writeAheadBytes: 128 * 1024,
  /** The time of a dial until the other side has accepted the WebSocket. */
  dialMs: 10_000,
  /** The interval at which a WebSocket is checked for silence. */
  lookMs: 5_000,
  /**
   * A ping is sent after this many looks without a message: between 10 s and 15 s. Proxies cut silent links after 60 s.
   */
  pingLooks: 3,
  /** A tunnel's link is dead after this many looks without a message: between 15 s and 20 s. */
  deadLooks: 4,
} as const;
