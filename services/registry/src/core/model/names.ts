/** How a version is named: by its number, its semantic version, an alias, or `latest`. No text is two of these. */
import { isName, type Rejection, reject } from "@trainyard/kernel";
import type { ModelState, Version } from "./state.ts";
import { findVersion, latestVersion, versionAt } from "./versions.ts";

const numberPattern = /^[1-9][0-9]{0,8}$/;
/** semver.org 2.0.0, with at most nine digits a number. */
const semanticPattern =
  /^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
/** Begins with a letter, so that it is no number; has no dot, so that it is no semantic version. */
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
    return reject("invalid_request", "the alias latest always names the newest version");
  }
  if (/^v?[0-9][0-9.]*$/.test(alias)) {
    const detail = `the alias ${alias} looks like the number of a version: take a word`;
    return reject("invalid_request", detail);
  }
  if (aliasPattern.test(alias)) return null;
  const rule = "begins with a letter and has at most 63 letters, digits, dashes and underscores";
  return reject("invalid_request", `${shown(alias)} is not an alias, which ${rule}`);
}

export function semanticProblem(text: string): Rejection | null {
  if (text === "") return null;
  if (semanticPattern.test(text) && text.length <= semanticCharactersMax) return null;
  const detail = `${shown(text)} is not a semantic version, as 1.2.0 or 2.0.0-rc.1`;
  return reject("invalid_request", detail);
}

/** The version of this name that is not removed. */
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

/** A text that somebody gave, so that it can be part of a sentence. */
function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
