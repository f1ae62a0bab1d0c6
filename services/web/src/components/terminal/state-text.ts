/** The line below a terminal. */
import type { Size } from "@trainyard/terminal";
import type { SessionState } from "./terminal-session.ts";

/** `own` is the size of the page's window. */
export function stateText(state: SessionState, own: Size): string {
  if (state.kind === "connecting") return "Connecting …";
  if (state.kind === "lost") return `Not connected, trying again: ${state.reason}.`;
  if (state.kind === "refused") return `Not connected: ${state.reason}.`;
  if (state.kind === "ended") {
    const { code = 0, signal } = state.ended;
    return signal === undefined ? `Ended with code ${code}.` : `Ended by ${signal}.`;
  }
  const { size, notice } = state;
  if (notice !== "") return notice;
  const isOther = size.columns !== own.columns || size.rows !== own.rows;
  if (isOther) return `${size.columns} × ${size.rows}, for another window. Type to use this one.`;
  return `Connected, ${size.columns} × ${size.rows}.`;
}
