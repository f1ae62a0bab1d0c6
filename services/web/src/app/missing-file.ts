/**
 * Files of a page that could not be loaded: the connection broke off, or an upgrade of the gateway replaced them. A new
 * load of the page gets all of them. https://vite.dev/guide/build#load-error-handling
 */
import { clock } from "../data/clock.ts";

const errorName = "MissingFileError";
const lastReload = "trainyard-reload";
/** Milliseconds within which a page is reloaded once: a file that is missing again is shown as an error. */
const once = 60_000;

export function startMissingFiles(): void {
  globalThis.addEventListener("vite:preloadError", ({ payload }) => {
    payload.name = errorName;
  });
}

export const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && error.name === errorName;

export const mayReload = (): boolean =>
  clock.nowMs() - Number(sessionStorage.getItem(lastReload)) > once;

export function reload(): void {
  sessionStorage.setItem(lastReload, String(clock.nowMs()));
  location.reload();
}
