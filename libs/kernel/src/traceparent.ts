/** The format of W3C Trace Context, version 00; ids of zeros only are invalid. */
const pattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export const isTraceparent = (text: string): boolean => pattern.test(text);
