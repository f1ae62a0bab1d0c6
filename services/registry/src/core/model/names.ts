/** A version is named by its number, its semantic version, an alias, or `latest`. No text can be two of these. */
import { isName, type Rejection, reject } from "@trainyard/kernel";
import type { ModelState, Version } from "./state.ts";
import { findVersion, latestVersion, versionAt } from "./versions.ts";

const numberPattern = /^[1-9][0-9]{0,8}$/;
/** The pattern of semver.org 2.0.0, with at most nine digits per number. */
const semanticPattern =
  /^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
/** An alias begins with a letter, unlike a number, and has no dot, unlike a semantic version. */
const aliasPattern = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const semanticCharactersMax = 63;

export const latest = "latest";

export function nameProblem(model: string): Rejection | null {
  if (isName(model)) return null;
  const rule =
    "begins with a letter or a digit and has at most 63 letters, digits, dots, dashes and underscores";
  return reject("invalid_request", `${shown(model)} is not a model's name, which ${rule}`);
}

export function aliasProblem(alias: string): Rejection | null {
  if (alias === latest) {
    return reject("invalid_request", "the alias latest is reserved for the newest version");
  }
  if (/^v?[0-9][0-9.]*$/.test(alias)) {
    const detail = `the alias ${alias} looks like the number of a version: choose a word`;
    return reject("invalid_request", detail);
  }
  if (aliasPattern.test(alias)) return null;
  const rule = "begins with a letter and has at most 63 letters, digits, dashes and underscores";
  return reject("invalid_request", `${shown(alias)} is not an alias, which ${rule}`);
}

export function semanticProblem(text: string): Rejection | null {
  if (text === "") return null;
  if (semanticPattern.test(text) && text.length <= semanticCharactersMax) return null;
  const detail = `${shown(text)} is not a semantic version, such as 1.2.0 or 2.0.0-rc.1`;
  return reject("invalid_request", detail);
}

/** Returns the version of this name, unless it is removed. */
export function resolve(model: string, state: ModelState, name: string): Version | Rejection {
  const found = look(state, name);
  if (found === undefined) {
    return reject("version_not_found", `model ${model} has no version ${shown(name)}`);
  }
  if (!found.removed) return found;
  return reject("version_removed", `version ${found.number} of model ${model} was removed`);
}

function look(state: ModelState, name: string): Version | undefined {
  const { versions, aliases } = state;
  if (numberPattern.test(name)) return versionAt(versions, Number(name));
  if (semanticPattern.test(name)) {
    const named = ({ semanticVersion, removed }: Version) => semanticVersion === name && !removed;
    return findVersion(versions, named);
  }
  if (name === latest) return latestVersion(versions);
  const number = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  return number === undefined ? undefined : versionAt(versions, number);
}

/** Quotes a user's text for a message. */
function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
