/**
 * A workspace or a project: none → open ⇄ archived. Its description and notes may change at any time. Its name never
 * changes, since pool quotas and recorded runs refer to a workspace by name. The default ones always exist, are never
 * archived, and have no description.
 */
import type { EventOf } from "@trainyard/contracts";
import {
  type Decider,
  isLine,
  type Rejection,
  reject,
  staleRevision,
  utf8Bytes,
} from "@trainyard/kernel";
import { spaceLimits } from "../limits.ts";

export type WorkspaceEvent = EventOf<
  "WorkspaceCreated" | "WorkspaceDescribed" | "WorkspaceArchived" | "WorkspaceUnarchived"
>;
export type ProjectEvent = EventOf<
  "ProjectCreated" | "ProjectDescribed" | "ProjectArchived" | "ProjectUnarchived"
>;

export type SpaceState = {
  readonly exists: boolean;
  readonly archived: boolean;
  readonly description: string;
  readonly notes: string;
  readonly revision: number;
};

export type SpaceCommand = { readonly by: string } & (
  | {
      readonly kind: "create";
      readonly name: string;
      readonly description: string;
      readonly notes: string;
      /** The id of the project's workspace; empty for a workspace. */
      readonly workspace: string;
    }
  | {
      readonly kind: "describe";
      readonly description?: string | undefined;
      readonly notes?: string | undefined;
      /** The revision that the caller has read; absent to skip the check. */
      readonly ifRevision?: number | undefined;
    }
  | { readonly kind: "archive"; readonly reason: string }
  | { readonly kind: "unarchive" }
);

const initial: SpaceState = {
  exists: false,
  archived: false,
  description: "",
  notes: "",
  revision: 0,
};

export const workspaceDecider = deciderOf<WorkspaceEvent>((decided) => {
  switch (decided.kind) {
    case "created":
      return { type: "WorkspaceCreated", data: decided.data };
    case "described":
      return { type: "WorkspaceDescribed", data: decided.data };
    case "archived":
      return { type: "WorkspaceArchived", data: decided.data };
    default:
      return { type: "WorkspaceUnarchived", data: decided.data };
  }
});

export const projectDecider = deciderOf<ProjectEvent>((decided, command) => {
  switch (decided.kind) {
    case "created": {
      const workspace = command.kind === "create" ? command.workspace : "";
      return { type: "ProjectCreated", data: { ...decided.data, workspace } };
    }
    case "described":
      return { type: "ProjectDescribed", data: decided.data };
    case "archived":
      return { type: "ProjectArchived", data: decided.data };
    default:
      return { type: "ProjectUnarchived", data: decided.data };
  }
});

function deciderOf<Event extends WorkspaceEvent | ProjectEvent>(
  eventOf: (decided: Decided, command: SpaceCommand) => Event,
): Decider<SpaceState, SpaceCommand, Event> {
  return {
    initial,
    decide(state, command) {
      const decided = decide(state, command);
      if (decided === null) return [];
      return "rejected" in decided ? decided : [eventOf(decided, command)];
    },
    evolve,
  };
}

type Words = { readonly description: string; readonly notes: string; readonly by: string };
type Decided =
  | { readonly kind: "created"; readonly data: Words & { readonly name: string } }
  | { readonly kind: "described"; readonly data: Words & { readonly revision: number } }
  | { readonly kind: "archived"; readonly data: { readonly reason: string; readonly by: string } }
  | { readonly kind: "unarchived"; readonly data: { readonly by: string } };

/** Decides a command; null if nothing has to change. */
function decide(state: SpaceState, command: SpaceCommand): Decided | Rejection | null {
  const { by } = command;
  if (command.kind === "create") {
    if (state.exists) return null;
    const { name, description, notes } = command;
    return (
      nameProblem(name) ??
      wordsProblem(command) ?? { kind: "created", data: { name, description, notes, by } }
    );
  }
  if (!state.exists) return reject("not_found", "it does not exist");
  switch (command.kind) {
    case "describe":
      return describe(state, command);
    case "archive": {
      const reason = command.reason.slice(0, spaceLimits.reasonCharactersMax);
      return state.archived ? null : { kind: "archived", data: { reason, by } };
    }
    default:
      return state.archived ? { kind: "unarchived", data: { by } } : null;
  }
}

/**
 * Changes description and notes. An unchanged value is not a conflict, whatever revision was read (RFC 9110, section
 * 13.1.1).
 */
function describe(
  state: SpaceState,
  command: SpaceCommand & { kind: "describe" },
): Decided | Rejection | null {
  const { description = state.description, notes = state.notes, ifRevision, by } = command;
  const problem = wordsProblem(command);
  if (problem !== null) return problem;
  if (description === state.description && notes === state.notes) return null;
  if (ifRevision !== undefined && ifRevision !== state.revision) {
    return staleRevision(ifRevision, state.revision);
  }
  return { kind: "described", data: { description, notes, revision: state.revision + 1, by } };
}

function evolve(state: SpaceState, { type, data }: WorkspaceEvent | ProjectEvent): SpaceState {
  switch (type) {
    case "WorkspaceCreated":
    case "ProjectCreated":
      return { ...state, exists: true, description: data.description, notes: data.notes };
    case "WorkspaceDescribed":
    case "ProjectDescribed": {
      const { description, notes, revision } = data;
      return { ...state, description, notes, revision };
    }
    case "WorkspaceArchived":
    case "ProjectArchived":
      return { ...state, archived: true };
    default:
      return { ...state, archived: false };
  }
}

function nameProblem(name: string): Rejection | null {
  const { nameCharactersMax: most } = spaceLimits;
  // A client would resolve dots in a URL path as folders.
  const isDots = name === "." || name === "..";
  const isText = name !== "" && isLine(name) && name.isWellFormed();
  const isName = isText && name.length <= most && !isDots;
  if (isName) return null;
  const shown = JSON.stringify(name.slice(0, 80));
  const detail = `the name ${shown} must have 1 to ${most} characters, none of them a control character, and no space at its ends`;
  return reject("invalid_request", detail);
}

function wordsProblem({
  description = "",
  notes = "",
}: {
  readonly description?: string | undefined;
  readonly notes?: string | undefined;
}): Rejection | null {
  const { descriptionBytesMax, notesBytesMax } = spaceLimits;
  for (const [what, text, most] of [
    ["description", description, descriptionBytesMax],
    ["notes", notes, notesBytesMax],
  ] as const) {
    const bytes = utf8Bytes(text);
    if (bytes > most) {
      return reject("invalid_request", `the ${what} has ${bytes} bytes; the maximum is ${most}`);
    }
  }
  return null;
}
