/** The zoom of charts as a part of a URL: "10..250.5". */
import type { Range } from "./chart/scale.ts";

export function readZoom(text: string | undefined): Range | null {
  const [from = "", to = ""] = (text ?? "").split("..");
  const range = [Number(from), Number(to)] as const;
  const valid = from !== "" && to !== "" && range.every(Number.isFinite) && range[0] < range[1];
  return valid ? range : null;
}

/** Writes a zoom with seven digits, or whole milliseconds: more than a pixel can show. */
export function zoomText(range: Range | null): string | undefined {
  if (range === null) return undefined;
  const width = range[1] - range[0];
  const digits = Math.min(12, Math.max(0, 4 - Math.floor(Math.log10(width))));
  return range.map((end) => String(Number(end.toFixed(digits)))).join("..");
}
