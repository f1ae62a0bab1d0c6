/** The limits of tunnels and of the streams through them. */
export const tunnelRoomLimits = {
  /** The interval at which rows are refreshed, and the tokens of tunnels are checked again. */
  lookMs: 30_000,
  /** A row that no replica has refreshed for this long belongs to a replica that is gone. */
  rowStaleSeconds: 300,
  /** The time from the end of a run to the close of its tunnel, in which its last output passes. */
  afterEndMs: 1_000,
  /** The validity of a replica's credential, which allows for clocks that differ. */
  credentialMs: 60_000,
  /** The time without a stream after which the tunnel to another replica is closed. */
  peerIdleMs: 60_000,
  /** The most open streams of one caller at one gateway, and of all callers. Requests to pages of tasks count, too. */
  streamsOfOneMax: 1_100,
  streamsMax: 4_096,
  /** The bytes of all streams together that wait for slow readers, and the interval at which they are counted. */
  unreadBytesMax: 256 * 1024 * 1024,
  unreadLookMs: 100,
  /** A person's reader may stop, and then answers no ping: its WebSocket is dead after this many looks (10 min). */
  streamDeadLooks: 120,
} as const;
