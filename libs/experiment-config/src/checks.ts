/**
 * Checks for configurations of the right shape that cannot run here: features that Determined has withdrawn,
 * requirements of this platform, numbers that no search can use. Each check reads only values of the right type; the
 * stages in `parts/part.ts` report the others, so that all problems of a document are reported together.
 */
import type { FieldProblem } from "@trainyard/kernel";
import { checkEarlyStopping } from "./early-stopping/policies.ts";
import { eachTyped } from "./hyperparameters/part.ts";
import { isMapping, type Json, type JsonObject, keyPath, mappingAt, valueAt } from "./json.ts";
import type { Note } from "./parts/part.ts";
import { checkObjectives } from "./searcher/objectives.ts";
import { isKnownSearcher } from "./searcher/schema.ts";
import { isSearcherName, searcherNames, searchers } from "./searcher/searcher.ts";
import type { SearcherModule } from "./searcher/module.ts";
import { withdrawnSearchers } from "./searcher/withdrawn.ts";
import { checkSlots } from "./sections/resources.ts";
import { isUnusableStorage, runningStorages } from "./sections/storage.ts";

export function whatDoesNotRun(document: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const note: Note = (path, detail) => problems.push({ path, detail });
  checkEntrypoint(valueAt(document, "entrypoint"), note);
  checkSearcher(mappingAt(document, "searcher"), note);
  checkSlots(mappingAt(document, "resources"), "resources", note);
  checkEarlyStopping(valueAt(document, "early_stopping"), note);
  for (const key of ["checkpoint_storage", "tensorboard_storage"]) {
    checkStorage(key, valueAt(document, key), note);
  }
  eachTyped(valueAt(document, "hyperparameters") ?? {}, "hyperparameters", (typed, path) =>
    checkPowers(typed, path, note),
  );
  return problems;
}

/** `model_def:Trial`, Determined's notation for a class, which its last release refuses too. */
const legacyEntrypoint = /^[A-Za-z0-9_.]+:[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;

function checkEntrypoint(given: Json | undefined, note: Note): void {
  const entrypoint = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (entrypoint === undefined) {
    note("entrypoint", 'is missing: it is the command that trains, for example "python3 train.py"');
  } else if (typeof entrypoint === "string" && legacyEntrypoint.test(entrypoint.trim())) {
    note(
      "entrypoint",
      `names a trial class (${entrypoint}), which this version does not run: give the command that trains, for example "python3 train.py"`,
    );
  } else if (typeof entrypoint === "string" && entrypoint !== "" && entrypoint.trim() === "") {
    note("entrypoint", "is blank: it is the command that trains");
  }
}

function checkSearcher(searcher: JsonObject, note: Note): void {
  const name = valueAt(searcher, "name");
  if (!isKnownSearcher(name)) return;
  const module: SearcherModule | null = isSearcherName(name) ? searchers[name] : null;
  module?.check?.(searcher, note);
  checkObjectives(searcher, note);
  if (isSearcherName(name)) return;
  const { remedy } = withdrawnSearchers[name];
  const supported = searcherNames.join(", ");
  note(
    "searcher.name",
    `is ${name}, which has been withdrawn; ${remedy} instead (${supported} run in this version)`,
  );
}

export function checkStorage(key: string, storage: Json | undefined, note: Note): void {
  const type = isMapping(storage) ? valueAt(storage, "type") : undefined;
  checkNoCredentials(key, isMapping(storage) ? storage : {}, note);
  if (typeof type !== "string" || !isUnusableStorage(type)) return;
  const what = key === "checkpoint_storage" ? "checkpoints" : "TensorBoard files";
  note(
    `${key}.type`,
    `is ${type}, to which this version does not write ${what}; ${runningStorages.join(", ")} work`,
  );
}

/** A configuration is stored in the log, which all users can read and which cannot be changed. */
function checkNoCredentials(section: string, storage: JsonObject, note: Note): void {
  for (const key of ["access_key", "secret_key"]) {
    if (valueAt(storage, key) === undefined) continue;
    note(
      `${section}.${key}`,
      "does not belong into a configuration: the platform reads credentials of object stores from its own environment, the role of its instance, or a file of mode 0600",
    );
  }
}

/** Beyond these limits a double loses precision or overflows. */
const POWER_MIN = 1e-300;
const POWER_MAX = 1e300;

function checkPowers(range: JsonObject, path: string, note: Note): void {
  const base = valueAt(range, "base");
  if (range["type"] !== "log" || typeof base !== "number" || base <= 0) return;
  for (const key of ["minval", "maxval"]) {
    const exponent = valueAt(range, key);
    if (typeof exponent !== "number") continue;
    const power = base ** exponent;
    if (power < POWER_MIN || power > POWER_MAX) {
      note(
        keyPath(path, key),
        `is an exponent: ${base} to the power of ${exponent} is not a number that can be used`,
      );
    }
  }
}
