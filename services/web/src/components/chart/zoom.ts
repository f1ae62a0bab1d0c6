/** Zooming by keys: the new range after a key. */
import type { Range } from "./scale.ts";

/**
 * Returns the range after a key, within `all`: null for the whole range, undefined for a key that does not zoom. `+`
 * and `-` zoom around the middle, arrows move by a quarter, 0 and Home show everything.
 */
export function zoomByKey(key: string, shown: Range, all: Range): Range | null | undefined {
  const [from, to] = shown;
  const width = to - from;
  switch (key) {
    case "+":
    case "=":
      return [from + width / 4, to - width / 4];
    case "-":
      return within([from - width / 2, to + width / 2], all);
    case "ArrowLeft":
      return within([from - width / 4, to - width / 4], all);
    case "ArrowRight":
      return within([from + width / 4, to + width / 4], all);
    case "0":
    case "Home":
      return null;
    default:
      return undefined;
  }
}

/** Moves a range into `all`; returns null for the whole range. */
function within([from, to]: Range, [least, greatest]: Range): Range | null {
  const width = to - from;
  if (width >= greatest - least) return null;
  if (from < least) return [least, least + width];
  if (to > greatest) return [greatest - width, greatest];
  return [from, to];
}
