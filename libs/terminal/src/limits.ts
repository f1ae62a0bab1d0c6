/** The longest payload of a frame. Both ends close a connection that announces a longer one. */
export const frameBytesMax = 1024 * 1024;
/** Input is sent in frames of at most this size, so that a signal or a size does not wait behind much of it. */
export const inputBytesMax = 64 * 1024;
/** The largest terminal: the holder takes the nearest size that is within these. */
export const columnsMax = 1_000;
export const rowsMax = 500;
