/** The streams that this service owns, and foreign streams that its answers depend on. */
import {
  type AccessCommand,
  accessDecider,
  type AccessEvent,
  type AccessState,
} from "@trainyard/access";
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { StopMode, type StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import {
  evolveSearchClient,
  initialSearchClient,
  type SearchClient,
} from "./api/core/search-client.ts";
import {
  type UserCommand,
  userDecider,
  type UserEvent,
  type UserState,
} from "./people/core/user.ts";
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
import {
  type Course,
  evolveCourse,
  evolveLatestRun,
  type LatestRun,
  noCourse,
} from "./tunnels/runs.ts";

export const tokens: Aggregate<TokenState, TokenCommand, TokenEvent> = {
  name: "token",
  category: "token",
  decider: tokenDecider,
};

export const users: Aggregate<UserState, UserCommand, UserEvent> = {
  name: "user",
  category: "user",
  decider: userDecider,
};

export const access: Aggregate<AccessState, AccessCommand, AccessEvent> = {
  name: "access",
  category: "access",
  decider: accessDecider,
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

type LastFacts = {
  readonly workspace: string;
  readonly project: string;
  readonly labels: readonly string[];
};

function evolveFacts(state: LastFacts | null, { type, data }: AnyEvent): LastFacts | null {
  if (type === "TaskCreated") return { workspace: data.workspace, project: "", labels: [] };
  if (type === "ExperimentCreated") {
    return { workspace: data.workspace, project: data.project, labels: data.labels };
  }
  if (state === null) return null;
  if (type === "ExperimentMoved") return { ...state, ...data };
  return type === "ExperimentDescribed" ? { ...state, labels: data.labels } : state;
}

const lastFacts = { name: "last-facts", initial: null, evolve: evolveFacts } as const;

/** The last workspace and labels of an experiment or task, which may be deleted; null before its creation. */
export const lastFactsOf: Readonly<Record<"experiment" | "task", StreamFold<LastFacts | null>>> = {
  experiment: { ...lastFacts, category: "experiment" },
  task: { ...lastFacts, category: "task" },
};

export const searchClients: StreamFold<SearchClient> = {
  name: "search-client",
  category: "search",
  initial: initialSearchClient,
  evolve: evolveSearchClient,
};

/**
 * The stops of a trial's runs that the experiments service requested, the number of the trial's latest run, and whether
 * the trial has ended.
 */
type Stops = {
  readonly lastRun: number;
  readonly whyOfRun: Readonly<Record<number, StopWhy>>;
  readonly hasEnded: boolean;
};

const noStops: Stops = { lastRun: 0, whyOfRun: {}, hasEnded: false };

function evolveStops(state: Stops, event: AnyEvent): Stops {
  if (event.type === "TrialEnded" || event.type === "TaskEnded")
    return { ...state, hasEnded: true };
  // A trial that has ended may be continued.
  if (event.type === "RunRequested") {
    return { ...state, lastRun: event.data.run, hasEnded: false };
  }
  if (event.type === "RunStopWithdrawn") {
    const { [event.data.run]: _withdrawn, ...whyOfRun } = state.whyOfRun;
    return { ...state, whyOfRun };
  }
  if (event.type !== "RunStopRequested" || event.data.mode === StopMode.UNSPECIFIED) return state;
  return { ...state, whyOfRun: { ...state.whyOfRun, [event.data.run]: event.data.why } };
}

export const stops: StreamFold<Stops> = {
  name: "stops",
  category: "trial",
  initial: noStops,
  evolve: evolveStops,
};

/** The same of a task. */
export const taskStops: StreamFold<Stops> = {
  name: "task-stops",
  category: "task",
  initial: noStops,
  evolve: evolveStops,
};

function evolveHasEnded(state: boolean, { type, data }: AnyEvent): boolean {
  // A paused task may be resumed.
  if (type === "TaskEnded") return data.outcome !== TaskOutcome.PAUSED;
  if (type === "TrialEnded" || type === "ExperimentEnded" || type === "TaskDeleted") return true;
  const isContinued = type === "TrialContinued" || type === "ExperimentContinued";
  return state && !isContinued && type !== "TaskResumed" && type !== "RunRequested";
}

const ends = { name: "has-ended", initial: false, evolve: evolveHasEnded } as const;

/** Whether a trial, an experiment or a task has ended, so that it writes no more lines and reports no more points. */
export const hasEnded: Readonly<Record<"trial" | "experiment" | "task", StreamFold<boolean>>> = {
  trial: { ...ends, category: "trial" },
  experiment: { ...ends, category: "experiment" },
  task: { ...ends, category: "task" },
};

/** The last stop of a run in the scheduler's records, which its trial or the scheduler requested; null for none. */
export const stopOfAllocation: StreamFold<StopWhy | null> = {
  name: "allocation-stop",
  category: "allocation",
  initial: null,
  evolve(why: StopWhy | null, event: AnyEvent): StopWhy | null {
    if (event.type === "AllocationStopWithdrawn") return event.data.remains ?? null;
    return event.type === "AllocationStopRequested" ? event.data.why : why;
  },
};

/** The latest run of a trial or a task, which streams reach. */
export const latestRunOfTrial: StreamFold<LatestRun> = {
  name: "latest-run-of-trial",
  category: "trial",
  initial: null,
  evolve: evolveLatestRun,
};

export const latestRunOfTask: StreamFold<LatestRun> = {
  name: "latest-run-of-task",
  category: "task",
  initial: null,
  evolve: evolveLatestRun,
};

export const courseOfRun: StreamFold<Course> = {
  name: "course-of-run",
  category: "allocation",
  initial: noCourse,
  evolve: evolveCourse,
};

/** How a task was created; null if there is no such task. */
export type TaskCreator = Pick<EventData<"TaskCreated">, "kind" | "owner" | "tokenId" | "sources">;

export const creatorOfTask: StreamFold<TaskCreator | null> = {
  name: "creator-of-task",
  category: "task",
  initial: null,
  evolve(creator: TaskCreator | null, event: AnyEvent): TaskCreator | null {
    if (event.type !== "TaskCreated") return creator;
    const { kind, owner, tokenId, sources } = event.data;
    return { kind, owner, tokenId, sources };
  },
};

/** The checkpoints that an experiment's configuration names. */
export const checkpointsOfConfig: StreamFold<ReadonlySet<string>> = {
  name: "checkpoints-of-config",
  category: "experiment",
  initial: new Set(),
  evolve: (named: ReadonlySet<string>, event: AnyEvent): ReadonlySet<string> =>
    event.type === "ExperimentCreated" ? withUuids(named, event.data) : named,
};

/** The checkpoints that a trial's hyperparameters name, and those that its runs start from. */
export const checkpointsOfTrial: StreamFold<ReadonlySet<string>> = {
  name: "checkpoints-of-trial",
  category: "trial",
  initial: new Set(),
  evolve: (named: ReadonlySet<string>, event: AnyEvent): ReadonlySet<string> =>
    event.type === "TrialCreated" || event.type === "RunRequested"
      ? withUuids(named, event.data)
      : named,
};

/** Adds the UUIDs in the text of an event, wherever they are. */
function withUuids(named: ReadonlySet<string>, data: object): ReadonlySet<string> {
  const pattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  const found = JSON.stringify(data).match(pattern) ?? [];
  return found.length === 0 ? named : new Set([...named, ...found]);
}

/** The id of the key that signs the token of a run; empty until the run is granted. */
export const tokenKeyOf: StreamFold<string> = {
  name: "allocation-token-key",
  category: "allocation",
  initial: "",
  evolve: (key, event: AnyEvent) =>
    event.type === "AllocationGranted" ? event.data.tokenKey : key,
};
