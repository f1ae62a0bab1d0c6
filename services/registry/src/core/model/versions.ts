/**
 * The versions of a model by number, from 1. They are stored in pages: a change copies one page and the list of pages
 * instead of up to a hundred thousand versions.
 */
import type { Version } from "./state.ts";

const pageVersions = 256;

export type Versions = {
  readonly count: number;
  readonly pages: readonly (readonly Version[])[];
};

export const noVersions: Versions = { count: 0, pages: [] };

export function versionAt({ pages }: Versions, number: number): Version | undefined {
  const at = number - 1;
  return pages[Math.floor(at / pageVersions)]?.[at % pageVersions];
}

/** Returns the versions with this version set at its number, which is at most one above the highest. */
export function withVersion({ count, pages }: Versions, version: Version): Versions {
  const at = version.number - 1;
  const page = Math.floor(at / pageVersions);
  const versions = [...(pages[page] ?? [])];
  versions[at % pageVersions] = version;
  const changed = [...pages];
  changed[page] = versions;
  return { count: Math.max(count, version.number), pages: changed };
}

/** The first version by number that meets the condition. */
export function findVersion(
  { pages }: Versions,
  holds: (version: Version) => boolean,
): Version | undefined {
  for (const page of pages) {
    const found = page.find(holds);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The version with the highest number that is not removed; undefined for none. */
export function latestVersion(versions: Versions): Version | undefined {
  for (let number = versions.count; number > 0; number -= 1) {
    const version = versionAt(versions, number);
    if (version?.removed === false) return version;
  }
  return undefined;
}
