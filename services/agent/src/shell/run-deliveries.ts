/**
 * The deliveries of one run: its lines from the start, and its reports, checkpoints and TensorBoard files once its
 * processes are gone. Each delivery ends on its own: a failure of one neither ends nor delays another.
 */
import { atMost, pause } from "@trainyard/kernel";
import type { ExitRecord } from "../core/records.ts";
import { killedWaits, limits } from "../limits.ts";
import type { SealedSpool } from "../state/sealed-spool.ts";
import { type CheckpointDeps, deliverCheckpoints } from "./checkpoint-delivery.ts";
import { type ShipperDeps, shipLines } from "./log-shipper.ts";
import { deliverReports } from "./report-delivery.ts";
import { syncTensorBoard } from "./tensorboard-sync.ts";

type Deps = ShipperDeps &
  Omit<CheckpointDeps, "tell" | "spool"> & {
    readonly spool: SealedSpool;
    readonly metricsUrl: string;
    /** Called when no checkpoint is left to deliver. */
    readonly onDelivered: () => void;
  };

export class RunDeliveries {
  readonly #deps: Deps;
  readonly #signal: AbortSignal;
  #lines: Promise<void>;
  #rest: readonly Promise<unknown>[] = [];

  /** Begins to send the lines. The deliveries end when the signal aborts. */
  constructor(deps: Deps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#lines = this.#ship();
  }

  /** Begins the deliveries that need the run's processes gone, and waits for each a bounded time from the exit. */
  async beforeEnd(exit: ExitRecord): Promise<void> {
    const { folder, clock } = this.#deps;
    const left = { ...this.#deps, tell: (text: string): void => this.tell(text) };
    // A task leaves lines, and its saves if it keeps its work.
    const none = Promise.resolve();
    const { isTask, keepsWork } = folder;
    const deliver = (isLeft: boolean, work: () => Promise<unknown>): Promise<void> =>
      isLeft ? this.#persistently(work) : none;
    const reports = isTask ? none : this.#deliverReports();
    const seals = !isTask || keepsWork;
    const checkpoints = deliver(seals, async () => {
      await deliverCheckpoints(left, this.#signal);
      this.#deps.onDelivered();
    });
    const boards = deliver(!isTask, () => syncTensorBoard(left, this.#signal));
    this.#rest = [reports, checkpoints, boards];
    const waits = folder.kill?.why === "wanted" ? killedWaits : limits;
    const linesMs = isTask ? waits.taskLinesBeforeEndMs : waits.linesBeforeEndMs;
    // The wait is measured from the exit, so that restarts of the agent do not prolong it; a clock may be set back.
    const leftMs = (waitMs: number): number => {
      const fromExitMs = exit.atMs + waitMs - clock.nowMs();
      return Math.min(waitMs, Math.max(fromExitMs, limits.beforeOldEndMs));
    };
    await Promise.all([
      atMost(clock, leftMs(waits.reportsBeforeEndMs), reports),
      atMost(clock, leftMs(linesMs), this.#lines),
      atMost(clock, leftMs(waits.checkpointsBeforeEndMs), checkpoints),
      atMost(clock, leftMs(waits.tensorBoardBeforeEndMs), boards),
    ]);
  }

  /** Resolves when nothing is left to deliver, or when the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all(this.#rest);
    // A delivery above may have written a line.
    await this.#lines;
  }

  /** Writes a line of the agent, and sends it: the sending of the run's own lines may have ended. */
  tell(text: string): void {
    this.#deps.folder.say(text);
    this.#lines = this.#lines.then(() => this.#ship());
  }

  #ship(): Promise<void> {
    return this.#persistently(() => shipLines(this.#deps, this.#signal));
  }

  async #persistently(work: () => Promise<unknown>): Promise<void> {
    const { clock, events, folder } = this.#deps;
    while (!this.#signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        if (this.#signal.aborted) return;
        events.runFailed(folder.launch.allocation, error);
        await pause(clock, limits.retry.lastMs, this.#signal);
      }
    }
  }

  /** Delivers the reports and records this; a record that a full disk prevents is retried while the end is reported. */
  async #deliverReports(): Promise<void> {
    const { folder, metricsUrl, events, clock } = this.#deps;
    if (folder.delivered !== null) return;
    const { allocation } = folder.launch;
    try {
      const outcome = await deliverReports({ folder, metricsUrl, events, clock }, this.#signal);
      while (outcome !== null && !this.#signal.aborted) {
        try {
          return folder.recordDelivered(outcome);
        } catch (error) {
          events.runFailed(allocation, error);
          await pause(clock, limits.retry.lastMs, this.#signal);
        }
      }
    } catch (error) {
      // A spool that the process has locked or replaced must not delay the report of the run's end.
      events.reportsFailed(allocation, error);
    }
  }
}
