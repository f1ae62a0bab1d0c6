/**
 * Files of a page that could not be loaded: the connection broke off, or an upgrade of the gateway replaced them. A new
 * load of the page gets all of them. https://vite.dev/guide/build#load-error-handling
 */
import { clock } from "../data/clock.ts";

const errorName = "MissingFileError";
const lastReload = "trainyard-reload";
/**
 * Milliseconds within which a page is reloaded once: a file that is missing again is shown as an error. It is longer
 * than a connection can hang before it fails.
 */
const once = 3_600_000;

/** Gives the errors their own message: the router reloads a page by itself for the browsers' messages about modules. */
export function startMissingFiles(): void {
  globalThis.addEventListener("vite:preloadError", ({ payload }) => {
    payload.name = errorName;
    payload.message = "A file of this page could not be loaded";
  });
}

export const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && error.name === errorName;

/** Returns whether a page may be reloaded, given the stored time of the last reload. */
export const mayReloadAt = (nowMs: number, last: string | null): boolean =>
  nowMs - Number(last) > once;

export const mayReload = (): boolean =>
  mayReloadAt(clock.nowMs(), sessionStorage.getItem(lastReload));

export function reload(): void {
  sessionStorage.setItem(lastReload, String(clock.nowMs()));
  location.reload();
}
