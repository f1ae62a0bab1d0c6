import { assertNever, type Decider, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { registryLimits } from "../../limits.ts";
import type { ModelCommand, Registered, WordsChange } from "./commands.ts";
import { evolveModel, initialModel } from "./evolve.ts";
import { aliasProblem, nameProblem, resolve, semanticProblem } from "./names.ts";
import type { ModelEvent, ModelState, Version, Words } from "./state.ts";
import { findVersion } from "./versions.ts";
import { changedWords, noWords, reasonProblem, sameWords } from "./words.ts";

type Decision = readonly ModelEvent[] | Rejection;
type Command<Kind extends ModelCommand["kind"]> = Extract<ModelCommand, { readonly kind: Kind }>;

const alreadySo: Decision = [];

export const modelDecider: Decider<ModelState, ModelCommand, ModelEvent> = {
  initial: initialModel,
  evolve: evolveModel,
  decide(state, command) {
    const problem = nameProblem(command.model) ?? missing(state, command);
    if (problem !== null) return problem;
    switch (command.kind) {
      case "create":
        return create(command);
      case "describe":
        return describe(state, command);
      case "move":
        return move(state, command);
      case "archive":
        if (state.archived) return alreadySo;
        return reasoned(command, [
          { type: "ModelArchived", data: { reason: command.reason, by: command.by } },
        ]);
      case "unarchive":
        return state.archived ? [{ type: "ModelUnarchived", data: { by: command.by } }] : alreadySo;
      case "register":
        return register(state, command);
      case "describe_version":
        return describeVersion(state, command);
      case "remove_version":
        return removeVersion(state, command);
      case "move_alias":
        return moveAlias(state, command);
      case "remove_alias":
        return removeAlias(state, command);
      default:
        return assertNever(command, "a model's command");
    }
  },
};

function missing(state: ModelState, command: ModelCommand): Rejection | null {
  const { model, kind } = command;
  if (kind === "create") {
    return state.exists ? reject("model_exists", `model ${model} exists already`) : null;
  }
  if (state.exists || (kind === "register" && command.createIn !== null)) return null;
  return reject("model_not_found", `there is no model ${model}`);
}

function create({ words, workspace, by }: Command<"create">): Decision {
  const written = changedWords(noWords, words);
  if (isRejection(written)) return written;
  return [{ type: "ModelCreated", data: { ...written, workspace, by } }];
}

function describe(state: ModelState, { words, by }: Command<"describe">): Decision {
  const written = changedWords(state.words, words);
  if (isRejection(written)) return written;
  if (sameWords(written, state.words)) return alreadySo;
  return [{ type: "ModelDescribed", data: { ...written, by } }];
}

function move(state: ModelState, { workspace, by }: Command<"move">): Decision {
  return state.workspace === workspace
    ? alreadySo
    : [{ type: "ModelMoved", data: { workspace, by } }];
}

function register(state: ModelState, command: Command<"register">): Decision {
  const { model, registered, by, createIn } = command;
  const { checkpoint, semanticVersion } = registered;
  const refusal = archived(state, model) ?? semanticProblem(semanticVersion);
  if (refusal !== null) return refusal;
  const known = findVersion(
    state.versions,
    (version) => version.checkpoint === checkpoint && !version.removed,
  );
  if (known !== undefined) return again(model, known, registered, command.words);
  const words = changedWords(noWords, command.words);
  if (isRejection(words)) return words;
  const named = versionNamed(state, semanticVersion);
  if (named !== undefined) {
    const detail = `version ${named.number} of model ${model} has the semantic version ${semanticVersion} already`;
    return reject("version_exists", detail);
  }
  if (state.versions.count >= registryLimits.versionsMax) {
    const detail = `model ${model} has had ${registryLimits.versionsMax} versions, the maximum: create another model`;
    return reject("too_many_versions", detail);
  }
  const version: ModelEvent = {
    type: "VersionRegistered",
    data: { ...registered, ...words, number: state.versions.count + 1, by },
  };
  if (state.exists) return [version];
  return [{ type: "ModelCreated", data: { ...noWords, workspace: createIn ?? "", by } }, version];
}

/**
 * Finds the version of a checkpoint: it is at most one version of a model, so a repeated registration returns that
 * version.
 */
function again(
  model: string,
  known: Version,
  { checkpoint, semanticVersion }: Registered,
  change: WordsChange,
): Decision {
  const words = changedWords(known.words, change);
  if (isRejection(words)) return words;
  const sameName = semanticVersion === "" || semanticVersion === known.semanticVersion;
  if (sameName && sameWords(words, known.words)) return alreadySo;
  const detail = `checkpoint ${checkpoint} is version ${known.number} of model ${model} already: change that version instead`;
  return reject("version_exists", detail);
}

function describeVersion(
  state: ModelState,
  { model, version: name, words, by }: Command<"describe_version">,
): Decision {
  const version = resolve(model, state, name);
  if (isRejection(version)) return version;
  const written: Words | Rejection = changedWords(version.words, words);
  if (isRejection(written)) return written;
  if (sameWords(written, version.words)) return alreadySo;
  return [{ type: "VersionDescribed", data: { ...written, number: version.number, by } }];
}

function removeVersion(state: ModelState, command: Command<"remove_version">): Decision {
  const { model, version: name, reason, by } = command;
  const version = resolve(model, state, name);
  if (isRejection(version)) return version;
  const { number, checkpoint } = version;
  const named = aliasesOf(state, number);
  if (named.length > 0) {
    const detail = `version ${number} of model ${model} is ${named.join(", ")}: move or remove the alias first`;
    return reject("version_in_use", detail);
  }
  return reasoned(command, [{ type: "VersionRemoved", data: { number, checkpoint, reason, by } }]);
}

function moveAlias(state: ModelState, command: Command<"move_alias">): Decision {
  const { model, alias, reason, by } = command;
  const refusal = archived(state, model) ?? aliasProblem(alias);
  if (refusal !== null) return refusal;
  const version = resolve(model, state, command.version);
  if (isRejection(version)) return version;
  const fromNumber = Object.hasOwn(state.aliases, alias) ? (state.aliases[alias] ?? 0) : 0;
  if (fromNumber === version.number) return alreadySo;
  if (fromNumber === 0 && Object.keys(state.aliases).length >= registryLimits.aliasesMax) {
    const detail = `model ${model} has ${registryLimits.aliasesMax} aliases, the maximum: remove one first`;
    return reject("too_many_aliases", detail);
  }
  const data = { alias, number: version.number, fromNumber, reason, by };
  return reasoned(command, [{ type: "AliasMoved", data }]);
}

function removeAlias(state: ModelState, command: Command<"remove_alias">): Decision {
  const { model, alias, reason, by } = command;
  const number = Object.hasOwn(state.aliases, alias) ? state.aliases[alias] : undefined;
  if (number === undefined) {
    return reject("alias_not_found", `model ${model} has no alias ${JSON.stringify(alias)}`);
  }
  return reasoned(command, [{ type: "AliasRemoved", data: { alias, number, reason, by } }]);
}

function reasoned({ reason }: { readonly reason: string }, events: Decision): Decision {
  return reasonProblem(reason) ?? events;
}

function archived(state: ModelState, model: string): Rejection | null {
  if (!state.archived) return null;
  return reject("model_archived", `model ${model} is archived: unarchive it first`);
}

function versionNamed(state: ModelState, semanticVersion: string): Version | undefined {
  if (semanticVersion === "") return undefined;
  return findVersion(
    state.versions,
    (version) => version.semanticVersion === semanticVersion && !version.removed,
  );
}

function aliasesOf({ aliases }: ModelState, number: number): readonly string[] {
  return Object.keys(aliases)
    .filter((alias) => aliases[alias] === number)
    .toSorted();
}
