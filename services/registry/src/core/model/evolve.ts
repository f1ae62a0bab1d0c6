import type { ModelEvent, ModelState, Version, Words } from "./state.ts";
import { noVersions, versionAt, withVersion } from "./versions.ts";
import { noWords } from "./words.ts";

export const initialModel: ModelState = {
  exists: false,
  archived: false,
  workspace: "",
  words: noWords,
  versions: noVersions,
  aliases: {},
};

export function evolveModel(state: ModelState, event: ModelEvent): ModelState {
  switch (event.type) {
    case "ModelCreated":
      return {
        ...state,
        exists: true,
        workspace: event.data.workspace,
        words: wordsOf(event.data),
      };
    case "ModelMoved":
      return { ...state, workspace: event.data.workspace };
    case "ModelDescribed":
      return { ...state, words: wordsOf(event.data) };
    case "ModelArchived":
      return { ...state, archived: true };
    case "ModelUnarchived":
      return { ...state, archived: false };
    case "VersionRegistered": {
      const { number, semanticVersion, checkpoint } = event.data;
      const words = wordsOf(event.data);
      const version = { number, semanticVersion, checkpoint, words, removed: false };
      return { ...state, versions: withVersion(state.versions, version) };
    }
    case "VersionDescribed": {
      const words = wordsOf(event.data);
      return changed(state, event.data.number, (version) => ({ ...version, words }));
    }
    case "VersionRemoved":
      return changed(state, event.data.number, (version) => ({
        ...version,
        words: noWords,
        removed: true,
      }));
    case "AliasMoved": {
      const { alias, number } = event.data;
      return { ...state, aliases: { ...state.aliases, [alias]: number } };
    }
    case "AliasRemoved": {
      const { [event.data.alias]: _removed, ...aliases } = state.aliases;
      return { ...state, aliases };
    }
    default:
      return state;
  }
}

function changed(
  state: ModelState,
  number: number,
  change: (version: Version) => Version,
): ModelState {
  const version = versionAt(state.versions, number);
  if (version === undefined) return state;
  return { ...state, versions: withVersion(state.versions, change(version)) };
}

function wordsOf({
  description,
  notes,
  labels,
  metadata = {},
}: Omit<Words, "metadata"> & { readonly metadata?: Words["metadata"] | undefined }): Words {
  return { description, notes, labels, metadata };
}
