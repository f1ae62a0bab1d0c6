/** Shows documents in the form of the API, without the fields that only the fold needs. */
import type { Plain } from "@trainyard/contracts";
import { protocolProblem } from "@trainyard/contracts/agent";
import type {
  Agent,
  Checkpoint,
  Experiment,
  Job,
  Model,
  ModelVersion,
  Project,
  Run,
  Task,
  Token,
  Trial,
  Workspace,
} from "@trainyard/contracts/api";
import { experimentPhase, trialPhase } from "@trainyard/contracts/state-words";
import { maskedDocument } from "@trainyard/experiment-config";
import { type ProxyPort, proxyPortsOf } from "@trainyard/experiment-config/recorded";
import type { JsonObject } from "@trainyard/kernel";
import { etagOfRevision } from "../http/etag.ts";
import type {
  AgentDocument,
  CheckpointDocument,
  ExperimentDocument,
  JobDocument,
  ModelDocument,
  ProjectDocument,
  TaskDocument,
  TokenDocument,
  TrialDocument,
  VersionDocument,
  WorkspaceDocument,
} from "../read-model/core/views/documents.ts";
import { defaultSpace } from "../read-model/core/views/project-space.ts";
import { undeliveredOf } from "../read-model/core/views/unstored.ts";

/**
 * Shows an experiment, in lists without its configuration. The configuration's secrets are masked; runs get them when
 * they are launched, by another path.
 */
export function shownExperiment(
  {
    units: _units,
    startTimes: _startTimes,
    running,
    starting,
    workedMs: _workedMs,
    workedAtMs: _workedAtMs,
    warned: _warned,
    contextDigest: _contextDigest,
    revision,
    constants: _constants,
    attributes: _attributes,
    deletion: _deletion,
    ...shown
  }: ExperimentDocument,
  config?: JsonObject,
): Plain<Experiment> {
  const etag = etagOfRevision(revision);
  const phase = experimentPhase({ state: shown.state, running, starting }).word;
  const own = { ...shown, ...placeOf(shown), etag, phase };
  return { ...own, ...(config === undefined ? {} : { config: maskedDocument(config) }) };
}

/** Returns the workspace and project of an experiment. One that was created without them is in the default ones. */
export function placeOf({ workspace, project }: Pick<ExperimentDocument, "workspace" | "project">) {
  return { workspace: workspace || defaultSpace, project: project || defaultSpace };
}

/**
 * Shows a trial, with its latest runs and the first values of its validations. An active trial of a paused experiment
 * is shown as paused.
 */
export function shownTrial(
  document: TrialDocument,
  experiment: Pick<ExperimentDocument, "state"> | undefined,
  config: JsonObject | undefined,
): Plain<Trial> {
  const { records: _records, recent: _recent, versions: _versions, sealed, ...known } = document;
  const { place: _place, reported: _reported, running: _running, ...rest } = known;
  const { workedMs: _workedMs, workedAtMs: _workedAtMs, ...shownOfRuns } = rest;
  const { hasNotFinite: _hasNotFinite, warned: _warned, ...ofTrial } = shownOfRuns;
  const { latest, best, suspendedAtRung, ...shown } = ofTrial;
  const values = { latestValidation: latest?.values ?? {}, bestValidation: best?.values ?? {} };
  const paused = shown.state === "ACTIVE" && experiment?.state === "PAUSED";
  const ports = proxyPortsOf(config);
  const runs = shown.runs.map((run) => withAddresses(run, ports));
  const left = undeliveredOf(sealed === undefined ? {} : { sealed });
  const state = paused ? "PAUSED" : shown.state;
  const { reason } = shown;
  const phase = trialPhase({ state, reason, runs, suspendedAtRung }).word;
  return { ...shown, ...values, ...left, logPoliciesMatched: [], runs, state, phase };
}

/** Adds the addresses of a run's ports; an ended run has none. */
function withAddresses(run: Plain<Run>, ports: readonly ProxyPort[]): Plain<Run> {
  if (ports.length === 0 || run.state === "ENDED") return run;
  const placements = run.placements.map((placement) => {
    const { address } = placement;
    if (address === undefined) return placement;
    const host = address.includes(":") ? `[${address}]` : address;
    const addresses = ports.map(({ port, isTcp }) => `${isTcp ? "tcp" : "http"}://${host}:${port}`);
    return { ...placement, proxy: { addresses } };
  });
  return { ...run, placements };
}

export function shownModel({ moves: _moves, ...shown }: ModelDocument): Plain<Model> {
  return { ...shown, workspace: shown.workspace || defaultSpace };
}

/** Shows a version, with the secrets in its `data` section masked as in the experiment. */
export function shownVersion({ data, ...shown }: VersionDocument): Plain<ModelVersion> {
  return { ...shown, ...(data === undefined ? {} : { data: maskedData(data) }) };
}

function maskedData(data: JsonObject): JsonObject {
  return maskedDocument({ data })["data"] as JsonObject;
}

export function shownJob(
  { queue: _queue, asked: _asked, change: _change, ...shown }: JobDocument,
  jobsAhead: number,
): Plain<Job> {
  return { ...shown, jobsAhead };
}

/** Shows a task, in lists without its configuration. The configuration's secrets are masked. */
export function shownTask(
  { killed: _killed, ...shown }: TaskDocument,
  config?: JsonObject,
): Plain<Task> {
  const workspace = shown.workspace || defaultSpace;
  const own = { ...shown, workspace, lastLogLines: [] };
  return config === undefined ? own : { ...own, config: maskedDocument(config) };
}

export function shownWorkspace({ revision, ...shown }: WorkspaceDocument): Plain<Workspace> {
  return { ...shown, etag: etagOfRevision(revision) };
}

/** Shows a project; one in an archived workspace is archived too. */
export function shownProject(
  { revision, archived, ...shown }: ProjectDocument,
  within: Pick<WorkspaceDocument, "name" | "archived">,
): Plain<Project> {
  const etag = etagOfRevision(revision);
  return { ...shown, workspace: within.name, archived: archived || within.archived, etag };
}

export function shownToken({
  secretDigest: _secretDigest,
  ancestors: _ancestors,
  limits,
  ...shown
}: TokenDocument): Plain<Token> {
  const { role = "", workspaces = [] } = limits[0] ?? {};
  return { ...shown, role, workspaces: [...workspaces] };
}

/** Shows an agent, with the disabled state of its slots. A draining slot is drained when no run uses it. */
export function shownAgent({ disabledSlots, ...shown }: AgentDocument): Plain<Agent> {
  const slots = shown.slots.map((slot) => {
    const found = disabledSlots.find((one) => one.slot === slot.id);
    if (found === undefined) return slot;
    const { slot: _id, ...disabled } = found;
    const drained = disabled.state === "DRAINING" && slot.run === "";
    return { ...slot, disabled: drained ? { ...disabled, state: "DRAINED" } : disabled };
  });
  // Compared on read, because the result also depends on the version of this service.
  const notPlaced = protocolProblem(shown) ?? shown.notPlaced;
  return { ...shown, slots, ...(notPlaced === undefined ? {} : { notPlaced }) };
}

export function shownCheckpoint({
  damage: _damage,
  partial: _partial,
  ...checkpoint
}: CheckpointDocument): Plain<Checkpoint> {
  return { ...checkpoint, codeDigest: "" };
}
