/** Numbers of charts as people read them. */

export function shownX(x: number, time: boolean): string {
  if (time) return new Date(x).toLocaleString("sv-SE");
  return Number(x.toPrecision(7)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

export function shownValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return String(Number(value.toPrecision(6))).replace(/^-/, "−");
}
