export const metricsLimits = {
  /** Reports of one request: what the SDK sends at once after an outage. */
  reportsPerRequestMax: 1_000,
  requestBytesMax: 4 * 1024 * 1024,
  /** A body of less is not counted; what a training process sends without an outage is less. */
  largeBodyBytes: 64 * 1024,
  /** Larger bodies that are held at once, together: some hundreds of MiB of memory, once they are parsed. */
  largeBodiesBytesMax: 64 * 1024 * 1024,
  /** The values of one report as JSON. A validation's go into an event of at most 256 KiB, with names around them. */
  metricsBytesMax: 192 * 1024,
  /** Names of a validation's values that are no numbers, in its event: beside a metric there are few, and the names are short. */
  nonNumericNamesMax: 16,
  /** The quantities of one device: more than any driver tells. */
  systemValuesMax: 16,
  /** Nothing that a machine measures comes near it, and sums over years stay finite. */
  systemValueMax: 1e18,
  /** What the SDK allows. A key is part of an index entry, a group of a subject; both have room for it. */
  nameCharactersMax: 255,
  /** How long a request waits until this replica knows of the run's grant, before 503. */
  grantWaitMs: 2_000,
  retryAfterSeconds: 1,
  /** Rows of one insert: a few milliseconds of the database's time. */
  rowsPerWriteMax: 5_000,
  /** Rows waiting in one process: beyond it 503, the senders keep their spools. */
  rowsWaitingMax: 50_000,
  /** The same in bytes, for reports with large values: one full request is one insert, and sixteen of them wait. */
  bytesPerWriteMax: 4 * 1024 * 1024,
  bytesWaitingMax: 64 * 1024 * 1024,
  /** Points of one answer, and their bytes: an answer is one message on the bus, of 1 MiB at most. */
  pointsPerPageMax: 1_000,
  /** System points of one answer: 16 values of 100 bytes each fill three quarters of a message. */
  systemPointsPerPageMax: 500,
  pageBytesMax: 512 * 1024,
  /** A live copy larger than this is left out: dashboards query what they do not hear. */
  liveCopyBytesMax: 512 * 1024,
} as const;
