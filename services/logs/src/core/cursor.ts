/** A cursor: the position of the last line that a reader has, in decimal digits. */
const pattern = /^(?:0|[1-9][0-9]{0,17})$/;

export const isCursor = (text: string): boolean => pattern.test(text);
