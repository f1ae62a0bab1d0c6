/**
 * Brings an experiment's command (pause, activate or stop) to thousands of trials, and ends the experiment after its
 * last trial. Fan-outs run beside the reactions in bounded parts, and the experiments take turns, so no other event
 * waits for more than one part.
 *
 * A command is an event of the experiment. A fan-out is its progress: the trials before `next` were decided on after
 * the command. Each part decides by the newest guarded state and by the rule of the reactions. So it does not matter
 * which command began the fan-out, how often a trial is reached, or what else happens to the trial meanwhile. A newer
 * command begins again at the first trial. The fan-out of a command waits until the reactions have reached it, since an
 * earlier event may decide where the next run starts.
 *
 * Fan-outs are folded from the log: each command, until its experiment has ended. They are saved when one begins and
 * now and then. A new leader reads the rest of the log, up to the cursor of the reactions, and continues. A fan-out
 * that is done already finds nothing to change. Without a saved state the whole log is read.
 *
 * A trial for which the rule fails does not stop the others. After the last trial the fan-out is parked with the reason
 * of the first one that failed, and a retry begins at the first trial again.
 */
import { shortNameOf } from "@trainyard/contracts";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, Fault, idOf, parseTrialId, pause, trialId } from "@trainyard/kernel";
import {
  type CommitIdentity,
  type DueDeps,
  type Acting,
  DueLoop,
  endsTerm,
  foldOf,
  isTransient,
  LogFold,
  reactionMeta,
  type Work,
} from "@trainyard/runtime";
import { trialsNotOver } from "../core/foreign/search.ts";
import { isClosed, mayEnd } from "../core/decisions/experiment-end.ts";
import { limits } from "../limits.ts";
import { advance, type Waits } from "./advance.ts";
import { type Proposals, proposalsOf } from "./continuation.ts";
import { decideEnd } from "./end-experiment.ts";
import { experiments, searches, trials } from "../streams.ts";

export const fanOutsPlace = {
  stream: "experiment-fan-outs",
  schema: "fan-outs/2",
  what: "the fan-outs",
};

const wishes: ReadonlySet<string> = new Set([
  "ExperimentActivated",
  "ExperimentPaused",
  "ExperimentStopRequested",
]);

type FanOut = {
  /** The position of the event that began the fan-out, which is the cause of its decisions. */
  readonly cause: number;
  /** The first trial that was not yet decided on after the command. */
  readonly next: number;
  /** All trials below this number have ended for good. It is used once the experiment may end. */
  readonly closedBelow: number;
  /** The version of the experiment's stream that the reactions have reached; 0 if unknown. */
  readonly seen: number;
  /** The first trial for which the rule failed, with the reason; empty for none. */
  readonly failed: string;
};

export type FanOutDeps = DueDeps & { readonly waits: Waits };

export class FanOuts {
  readonly loop: DueLoop;
  readonly proposals: Proposals;
  readonly #deps: FanOutDeps;
  readonly #fold: LogFold<FanOut>;
  /** The open trial that each experiment waits for before it can end. */
  readonly #waiting = new Map<string, number>();
  #parts = 0;

  private constructor(deps: FanOutDeps, fold: LogFold<FanOut>) {
    this.#deps = deps;
    this.#fold = fold;
    this.proposals = proposalsOf(deps.log);
    const act = (experiment: string, _: number, { signal }: Acting) =>
      this.#step(experiment, signal);
    const causeOf = (experiment: string) => fold.entries.get(experiment)?.cause ?? 0;
    const spec = { name: "fan-outs", service: "experiments", lane: 3 };
    this.loop = new DueLoop({ ...spec, act, causeOf }, deps);
    for (const experiment of fold.entries.keys()) this.loop.ask(experiment);
  }

  /** Opens the fan-outs at the cursor of the reactions. */
  static async open(deps: FanOutDeps, consumer: string): Promise<FanOuts> {
    let isLive = false;
    const fold = (fanOuts: Map<string, FanOut>, stored: StoredEvent): void => {
      const type = shortNameOf(stored.type);
      // Later ones begin in their reaction, if they concern many trials.
      if (!isLive && (wishes.has(type) || type === "SearchCompleted")) start(fanOuts, stored);
      if (categoryOf(stored.stream) === "experiment") see(fanOuts, stored);
    };
    const { position } = await deps.log.cursor(consumer, 0);
    const opened = await LogFold.open(deps, { ...fanOutsPlace, fold }, position);
    isLive = true;
    return new FanOuts(deps, opened);
  }

  /** Whether no fan-out has work until another event arrives. */
  get isIdle(): boolean {
    return !this.loop.isBusy;
  }

  /**
   * Begins a fan-out, in the reaction to an event that concerns more trials than a reaction may read. It is saved
   * before the reaction counts as done, so it is not lost for a retried parked event either.
   */
  async begin(event: StoredEvent): Promise<void> {
    this.#start(event);
    await this.#fold.save();
  }

  /** Begins a fan-out that may end the experiment. If one exists, it already waits for the next open trial. */
  async lookForEnd(event: StoredEvent): Promise<void> {
    const isKnown = this.#fold.entries.has(experimentOf(event));
    if (isKnown && shortNameOf(event.type) === "TrialEnded") return;
    this.#start(event);
    if (!isKnown) await this.#fold.save();
  }

  #start(event: StoredEvent): void {
    start(this.#fold.entries, event);
    this.#waiting.delete(experimentOf(event));
    this.loop.ask(experimentOf(event));
  }

  /** Notes an event whose reaction is done. */
  observe(stored: StoredEvent): void {
    const { stream, type } = stored;
    const [category, id] = [categoryOf(stream), idOf(stream)];
    const before = this.#fold.entries.get(id);
    this.#fold.observe(stored);
    if (category === "experiment") {
      const after = this.#fold.entries.get(id);
      if (after === undefined) this.#remove(id);
      else if (after !== before) this.loop.ask(id);
    } else if (category === "trial" && this.#waiting.size > 0) {
      const trial = parseTrialId(id);
      if (trial === null || this.#waiting.get(trial.experiment) !== trial.number) return;
      if (shortNameOf(type) !== "TrialEnded") return;
      this.#waiting.delete(trial.experiment);
      this.loop.ask(trial.experiment);
    }
  }

  /** Whether the experiment's stream has events that the reactions have not reached. */
  async #isAhead(experiment: string, { seen }: FanOut): Promise<boolean> {
    const { version } = await this.#deps.executor.cache.load(foldOf(experiments), experiment);
    return version > seen;
  }

  #remove(experiment: string): void {
    this.#fold.entries.delete(experiment);
    this.#waiting.delete(experiment);
    this.loop.delete(experiment);
  }

  /** Runs one part for the experiment whose turn it is. */
  async #step(experiment: string, signal: AbortSignal): Promise<number | null> {
    const { entries } = this.#fold;
    const fanOut = entries.get(experiment);
    if (fanOut === undefined) return null;
    const { after, waits } = await this.#part(experiment, fanOut);
    // A newer command may have restarted the fan-out meanwhile, or the experiment may have ended.
    if (entries.get(experiment) === fanOut) {
      if (after === null) this.#remove(experiment);
      else entries.set(experiment, after);
    }
    this.#parts += 1;
    if (after === null || this.#parts % limits.fanOutsSavedEveryParts === 0)
      await this.#fold.save();
    // The pause lets other work of the event loop run, however fast the log answers.
    await pause(this.#deps.clock, 0, signal);
    return waits ? null : 0;
  }

  /** Runs a part. Returns the progress after it, null if the fan-out is done, and whether it waits for an event. */
  async #part(experiment: string, fanOut: FanOut): Promise<Progress> {
    const { cache } = this.#deps.executor;
    const { state: search } = await cache.load(searches, experiment);
    const numbers = trialsNotOver(search, fanOut.next, limits.trialsPerPart);
    const last = numbers.at(-1);
    if (last === undefined) return this.#lookForEnd(experiment, fanOut);
    const failed = await this.#bringAlong(experiment, fanOut, numbers);
    if (await this.#isAhead(experiment, fanOut)) return { after: fanOut, waits: true };
    return { after: { ...fanOut, next: last + 1, failed: fanOut.failed || failed }, waits: false };
  }

  /** Decides on trials. Returns the first that failed, with the reason; empty for none. */
  async #bringAlong(
    experiment: string,
    fanOut: FanOut,
    numbers: readonly number[],
  ): Promise<string> {
    const identity = await this.#identityOf(fanOut);
    try {
      await this.#decide(identity, async (work) => {
        // Checked in each attempt: a retry after a conflict means that the experiment's stream has changed.
        if (await this.#isAhead(experiment, fanOut)) return;
        for (const number of numbers) {
          await advance(work, trialId(experiment, number), this.#deps.waits);
        }
      });
      return "";
    } catch (error) {
      if (endsTerm(error) || isTransient(error)) throw error;
      let failed = "";
      if (numbers.length > 1) {
        // Deciding one trial at a time finds the one that fails.
        for (const number of numbers) {
          const reason = await this.#bringAlong(experiment, fanOut, [number]);
          failed ||= reason;
        }
        return failed;
      }
      const trial = trialId(experiment, numbers[0] ?? 0);
      this.#deps.logger.error({ err: error, trial }, "trial_left_out_of_fan_out");
      return `trial ${trial}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Walks over the trials up to the first open one; ends the experiment after the last one. */
  async #lookForEnd(id: string, fanOut: FanOut): Promise<Progress> {
    if (fanOut.failed !== "") {
      this.#fold.entries.set(id, { ...fanOut, next: 1, failed: "" });
      await this.#fold.save();
      throw new Fault("trials_left_out", fanOut.failed, { retry: "never" });
    }
    const { cache } = this.#deps.executor;
    const { state: experiment } = await cache.load(foldOf(experiments), id);
    const { state: search } = await cache.load(searches, id);
    if (!mayEnd(experiment, search)) return { after: null, waits: true };
    const numbers = trialsNotOver(search, fanOut.closedBelow, limits.trialsPerPart);
    let { closedBelow } = fanOut;
    for (const number of numbers) {
      // Noted before the read, because the trial may end meanwhile.
      this.#waiting.set(id, number);
      const { state: trial } = await cache.load(foldOf(trials), trialId(id, number));
      if (!isClosed(experiment, trial)) return { after: { ...fanOut, closedBelow }, waits: true };
      closedBelow = number + 1;
    }
    this.#waiting.delete(id);
    if (numbers.length > 0) return { after: { ...fanOut, closedBelow }, waits: false };
    const identity = await this.#identityOf(fanOut);
    await this.#decide(identity, (work) => decideEnd(work, id));
    return { after: null, waits: true };
  }

  async #decide(identity: CommitIdentity, handler: (work: Work) => Promise<void>): Promise<void> {
    await this.#deps.executor.react(
      () => identity,
      () => undefined,
      handler,
      0,
    );
  }

  /** The parts of a fan-out have its first event as their cause. */
  async #identityOf({ cause }: FanOut): Promise<CommitIdentity> {
    const [event] = await this.#deps.log.readAll(cause - 1, 1);
    if (event?.position !== cause) {
      throw new Fault("cause_missing", `the log has no event ${cause}`, { retry: "later" });
    }
    return { commitId: newEventId(), meta: reactionMeta("experiments", event) };
  }
}

type Progress = { readonly after: FanOut | null; readonly waits: boolean };

function start(fanOuts: Map<string, FanOut>, event: StoredEvent): void {
  const { type, position } = event;
  const known = fanOuts.get(experimentOf(event));
  const isWish = wishes.has(shortNameOf(type));
  fanOuts.set(experimentOf(event), {
    // An event that can only end the experiment does not restart the walk over its trials.
    next: isWish ? 1 : (known?.next ?? Number.MAX_SAFE_INTEGER),
    cause: isWish ? position : (known?.cause ?? position),
    seen: isWish ? event.version : (known?.seen ?? 0),
    closedBelow: known?.closedBelow ?? 1,
    failed: isWish ? "" : (known?.failed ?? ""),
  });
}

function see(fanOuts: Map<string, FanOut>, { stream, type, version }: StoredEvent): void {
  const experiment = idOf(stream);
  const fanOut = fanOuts.get(experiment);
  if (shortNameOf(type) === "ExperimentEnded") fanOuts.delete(experiment);
  else if (fanOut !== undefined && fanOut.seen < version) {
    fanOuts.set(experiment, { ...fanOut, seen: version });
  }
}

function experimentOf({ stream }: StoredEvent): string {
  const id = idOf(stream);
  return parseTrialId(id)?.experiment ?? id;
}
