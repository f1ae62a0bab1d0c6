/** The streams that this service owns, and foreign streams that its answers depend on. */
import type { AnyEvent } from "@trainyard/contracts";
import { StopMode, type StopWhy } from "@trainyard/contracts/events";
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import {
  evolveSearchClient,
  initialSearchClient,
  type SearchClient,
} from "./api/core/search-client.ts";
import {
  type ContentCommand,
  type ContentEvent,
  type ContentState,
  contentDecider,
} from "./spaces/core/content.ts";
import {
  type EnvironmentEvent,
  type Environments,
  environmentDecider,
} from "./spaces/core/environment.ts";
import { type NameEvent, type NameState, nameDecider, type Reserved } from "./spaces/core/name.ts";
import {
  type ProjectEvent,
  projectDecider,
  type SpaceCommand,
  type SpaceState,
  type WorkspaceEvent,
  workspaceDecider,
} from "./spaces/core/space.ts";
import {
  type TokenCommand,
  type TokenEvent,
  type TokenState,
  tokenDecider,
} from "./spaces/core/token.ts";

export const tokens: Aggregate<TokenState, TokenCommand, TokenEvent> = {
  name: "token",
  category: "token",
  decider: tokenDecider,
};

export const names: Aggregate<NameState, Reserved, NameEvent> = {
  name: "name",
  category: "name",
  decider: nameDecider,
};

export const workspaces: Aggregate<SpaceState, SpaceCommand, WorkspaceEvent> = {
  name: "workspace",
  category: "workspace",
  decider: workspaceDecider,
};

export const projects: Aggregate<SpaceState, SpaceCommand, ProjectEvent> = {
  name: "project",
  category: "project",
  decider: projectDecider,
};

export const contents: Aggregate<ContentState, ContentCommand, ContentEvent> = {
  name: "content",
  category: "content",
  decider: contentDecider,
};

export const environments: Aggregate<Environments, EnvironmentEvent["data"], EnvironmentEvent> = {
  name: "environment",
  category: "environment",
  decider: environmentDecider,
};

/** Whether an experiment was deleted for good; a late report of a run must not store anything again. */
export const deleted: StreamFold<boolean> = {
  name: "deleted",
  category: "experiment",
  initial: false,
  evolve: (state, { type }) => state || type === "ExperimentDeleted",
};

export const searchClients: StreamFold<SearchClient> = {
  name: "search-client",
  category: "search",
  initial: initialSearchClient,
  evolve: evolveSearchClient,
};

/** The stops of a trial's runs that the experiments service requested, and the number of the trial's latest run. */
type Stops = { readonly lastRun: number; readonly whyOfRun: Readonly<Record<number, StopWhy>> };

export const stops: StreamFold<Stops> = {
  name: "stops",
  category: "trial",
  initial: { lastRun: 0, whyOfRun: {} },
  evolve(state: Stops, event: AnyEvent): Stops {
    if (event.type === "RunRequested") return { ...state, lastRun: event.data.run };
    if (event.type !== "RunStopRequested" || event.data.mode === StopMode.UNSPECIFIED) return state;
    return { ...state, whyOfRun: { ...state.whyOfRun, [event.data.run]: event.data.why } };
  },
};

/** The stop of a run that the scheduler requested, for a preemption, a drain or a time limit; null for none. */
export const stopOfAllocation: StreamFold<StopWhy | null> = {
  name: "allocation-stop",
  category: "allocation",
  initial: null,
  evolve: (why: StopWhy | null, event: AnyEvent): StopWhy | null =>
    event.type === "AllocationStopRequested" ? event.data.why : why,
};
