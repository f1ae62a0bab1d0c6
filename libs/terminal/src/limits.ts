/** The longest payload of a frame. Both ends close a connection that announces a longer one. */
export const frameBytesMax = 1024 * 1024;
/** Input is sent in frames of at most this size, so that a signal or a size does not wait behind much of it. */
export const inputBytesMax = 64 * 1024;
/** The largest terminal: the holder takes the nearest size that is within these. */
export const columnsMax = 1_000;
export const rowsMax = 500;
/** The waits before a broken connection is made again: they vary, so that a thousand viewers do not return at once. */
export const redialPolicy = { firstMs: 500, lastMs: 10_000, spread: 0.8 } as const;
/** A screen and the output since are repeated; a terminal answers the queries in them within this time. */
export const repeatedAnswersMs = 500;
