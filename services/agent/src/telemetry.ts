import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";
import type { Logger, Registry } from "@trainyard/runtime";
import { Counter, Gauge } from "prom-client";
import { experimentsOf, type UserRange } from "./state/run-user.ts";

/** The agent's telemetry: one function per event. */
export type Telemetry = ReturnType<typeof createTelemetry>;

export function createTelemetry(registry: Registry, logger: Logger) {
  const registers = [registry];
  const counter = (name: string, help: string): Counter =>
    new Counter({ name: `trainyard_agent_${name}_total`, help, registers });
  const launched = counter("launches", "Runs that were started here");
  const ended = counter("ends", "Runs that ended here");
  const lines = counter("lines_shipped", "Lines that the logs service acknowledged");
  const linesRefused = counter("lines_refused", "Lines that the logs service never takes");
  const reports = counter("reports_delivered", "Reports that ended processes had left");
  const held = new Gauge({
    name: "trainyard_agent_runs",
    help: "Runs that are reported",
    registers,
  });
  return {
    ...processEvents(logger),
    ...checkpointEvents(logger),
    ...conversationEvents(logger),
    ...deviceEvents(logger),
    ...userEvents(logger),
    held: (runs: number) => held.set(runs),
    adopted: (runs: number) => logger.info({ runs }, "runs_adopted"),
    launching(allocation: string) {
      launched.inc();
      logger.info({ allocation }, "run_launched");
    },
    running: (allocation: string, pid: number) =>
      logger.info({ allocation, trialPid: pid }, "run_up"),
    killed: (allocation: string, why: string) => logger.info({ allocation, why }, "run_killed"),
    ended(allocation: string, exit: object) {
      ended.inc();
      logger.info({ allocation, exit }, "run_ended");
    },
    lastWordUnread: (allocation: string, problem: string) =>
      logger.warn({ allocation, problem }, "last_word_unread"),
    forgotten: (allocation: string) => logger.info({ allocation }, "run_forgotten"),
    removed: (allocation: string) => logger.debug({ allocation }, "run_folder_removed"),
    givenUp: (allocation: string) => logger.error({ allocation }, "run_undelivered_removed"),
    runFailed: (allocation: string, error: unknown) =>
      logger.error({ allocation, err: error }, "run_handling_failed"),
    contextWaits: (digest: string, error: unknown) =>
      logger.warn({ digest, err: error }, "context_waits"),
    linesShipped: (count: number) => lines.inc(count),
    /** Logged as a warning only once in an outage for each reason. */
    linesWait: (allocation: string, why: unknown, again: boolean) =>
      logger[again ? "debug" : "warn"]({ allocation, err: why }, "lines_wait"),
    lineRefused(allocation: string, sequence: number) {
      linesRefused.inc();
      logger.error({ allocation, sequence }, "line_refused");
    },
    linesLost: (allocation: string, why: string) =>
      logger.warn({ allocation, why }, "lines_not_sent"),
    reportsDelivered: (count: number) => reports.inc(count),
    reportsWait: (why: string) => logger.warn({ why }, "reports_wait"),
    reportRefused: (allocation: string, offset: number) =>
      logger.warn({ allocation, offset }, "report_refused"),
    reportsInvalid: (allocation: string, refused: readonly unknown[]) =>
      logger.warn({ allocation, count: refused.length, first: refused[0] }, "reports_invalid"),
    reportsFailed: (allocation: string, error: unknown) =>
      logger.error({ allocation, err: error }, "report_delivery_failed"),
    reportsRefused: (allocation: string, status: number) =>
      logger.warn({ allocation, status }, "reports_refused"),
    askedToStop: (allocation: string) => logger.info({ allocation }, "run_asked_to_stop"),
    cleanUpFailed: (error: unknown) => logger.warn({ err: error }, "clean_up_failed"),
    notAdopted: (path: string, error: unknown) =>
      logger.error({ path, err: error }, "run_not_adopted"),
    shuttingDown: (runs: number) => logger.info({ runs }, "runs_shut_down"),
  };
}

function userEvents(logger: Logger) {
  return {
    /** The folder of a run whose launch cannot be read, and the number of its sealed checkpoints. */
    launchLost: (path: string, sealed: number) => logger.error({ path, sealed }, "run_launch_lost"),
    notRemoved: (allocation: string, error: unknown) =>
      logger.error({ allocation, err: error }, "run_folder_not_removed"),
    runUsers: (range: UserRange | null, tasks: UserRange | null) =>
      range === null
        ? logger.info("runs_have_the_agents_user")
        : logger.info({ ...range, experiments: experimentsOf(range), tasks }, "runs_have_users"),
    runsAsRoot: () =>
      logger.warn({ setting: "TRAINYARD_AGENT_USER_IDS" }, "runs_have_roots_rights"),
    protocolDiffers: (problem: string) => logger.error({ problem }, "protocol_differs"),
    storageClosed: (path: string) =>
      logger.warn({ path }, "checkpoint_folder_closed_to_the_users_of_runs"),
  };
}

/** Checkpoints that the platform does not take, and the run's folder, which stays. */
type Untaken = {
  readonly checkpoints: readonly string[];
  readonly folder: string;
  readonly why: string;
};

function checkpointEvents(logger: Logger) {
  return {
    checkpointDelivered: (allocation: string, checkpoint: string) =>
      logger.info({ allocation, checkpoint }, "checkpoint_delivered"),
    /** Logged as a warning only once in an outage. */
    checkpointsWait: (allocation: string, why: string, again: boolean) =>
      logger[again ? "debug" : "warn"]({ allocation, why }, "checkpoints_wait"),
    checkpointsWaitLong: (allocation: string, count: number, why: string) =>
      logger.warn({ allocation, count, why }, "checkpoints_wait_for_a_day"),
    historyLost: (allocation: string, what: Untaken) =>
      logger.error({ allocation, ...what }, "run_history_lost"),
    checkpointAbandoned: (allocation: string, what: Untaken) =>
      logger.error({ allocation, ...what }, "checkpoint_abandoned"),
    /** A complete checkpoint that the platform's log lacks, as after a restore. */
    offeredAgain: (allocation: string, checkpoint: string) =>
      logger.warn({ allocation, checkpoint }, "checkpoint_offered_again"),
    /** A folder without a record whose checkpoint the platform knows. */
    begunKept: (allocation: string, checkpoint: string) =>
      logger.warn({ allocation, checkpoint }, "checkpoint_without_record_kept"),
    checkpointsFailed: (allocation: string, error: unknown) =>
      logger.error({ allocation, err: error }, "checkpoint_delivery_failed"),
    checkpointNotRemoved: (allocation: string, checkpoint: string, error: unknown) =>
      logger.warn({ allocation, checkpoint, err: error }, "checkpoint_not_removed"),
    workNotSaved: (allocation: string, why: string) =>
      logger.warn({ allocation, why }, "work_not_saved"),
    /** Logged as a warning only once in an outage. */
    boardsWait: (allocation: string, error: unknown, again: boolean) =>
      logger[again ? "debug" : "warn"]({ allocation, err: error }, "boards_wait"),
    tensorBoardRefused: (allocation: string, why: string) =>
      logger.warn({ allocation, why }, "tensorboard_refused"),
    checkpointRefused: (allocation: string, checkpoint: string, why: string) =>
      logger.warn({ allocation, checkpoint, why }, "checkpoint_refused"),
  };
}

function processEvents(logger: Logger) {
  return {
    diskFull: (error: unknown) => logger.error({ err: error }, "disk_full"),
    notLaunched: (allocation: string, error: unknown) =>
      logger.error({ allocation, err: error }, "run_not_launched"),
    processGroups: (mechanism: string, problems: readonly string[]) =>
      logger.info({ mechanism, problems }, "process_groups"),
    containers: (engine: string, socket: string) => logger.info({ engine, socket }, "containers"),
    screensLost: (error: unknown) => logger.warn({ err: error }, "screens_of_tasks_lost"),
    sweepFailed: (error: unknown) => logger.warn({ err: error }, "containers_not_swept"),
    /** `left` is empty once no process is left. */
    left: (allocation: string, left: string) => logger.warn({ allocation, left }, "run_left"),
  };
}

/** Telemetry of the protocol between the agent and the scheduler. */
function conversationEvents(logger: Logger) {
  return {
    tunnelOpen: (allocation: string) => logger.info({ allocation }, "tunnel_open"),
    /** Logged as a warning only once in an outage. */
    tunnelAway: (allocation: string, why: unknown, again: boolean) =>
      logger[again ? "debug" : "warn"]({ allocation, err: why }, "tunnel_away"),
    staleWanted: (epoch: number, version: number) =>
      logger.debug({ epoch, version }, "wanted_ignored"),
    wantedFailed: (error: unknown) => logger.error({ err: error }, "wanted_failed"),
    nameTaken: (why: string) => logger.error({ why }, "name_taken"),
    nameHeld: () => logger.info("name_held"),
    olderEpoch: (epoch: number, seen: number) =>
      logger.warn({ epoch, seen }, "wanted_of_an_older_epoch"),
    reportInParts: (parts: number) => logger.debug({ parts }, "report_in_parts"),
  };
}

function deviceEvents(logger: Logger) {
  return {
    slotsOffered: (slots: readonly Plain<Slot>[]) =>
      logger.info(
        { slots: slots.map(({ id, device, name = "" }) => ({ slot: id, device, name })) },
        "slots_offered",
      ),
    /** A device program that is missing, hangs, fails or prints unusable output; or a setting that names no device. */
    deviceProblem: (problem: string) => logger.warn({ problem }, "device_problem"),
    deviceLeft: (slot: string, name: string, why: string) =>
      logger.warn({ slot, device: name, why }, "device_left"),
    deviceReturned: (slot: string, name: string) =>
      logger.info({ slot, device: name }, "device_returned"),
  };
}
