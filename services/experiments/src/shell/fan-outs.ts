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
 */
import { shortNameOf } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import {
  categoryOf,
  type Clock,
  Fault,
  idOf,
  parseTrialId,
  pause,
  trialId,
} from "@trainyard/kernel";
import {
  type CommitIdentity,
  EffectLoop,
  type Executor,
  foldOf,
  type Logger,
  reactionMeta,
  runtimeLimits,
  type Work,
} from "@trainyard/runtime";
import { trialsNotOver } from "../core/foreign/search.ts";
import { isClosed, mayEnd } from "../core/decisions/experiment-end.ts";
import { limits } from "../limits.ts";
import { advance, type Waits } from "./advance.ts";
import { type Proposals, proposalsOf } from "./continuation.ts";
import { decideEnd } from "./end-experiment.ts";
import { type LogFold, type LogFoldPlace, loadLogFold, saveLogFold } from "./log-folds.ts";
import { isOfOneDecision } from "./one-decision.ts";
import { experiments, searches, trials } from "../streams.ts";

export const fanOutsPlace: LogFoldPlace = {
  stream: "experiment-fan-outs",
  schema: "fan-outs/1",
  what: "the fan-outs",
};

const wishes: ReadonlySet<string> = new Set([
  "ExperimentActivated",
  "ExperimentPaused",
  "ExperimentStopRequested",
]);

type FanOut = {
  readonly experiment: string;
  /** The position of the event that began the fan-out, which is the cause of its decisions. */
  readonly cause: number;
  /** The first trial that was not yet decided on after the command. */
  readonly next: number;
  /** All trials below this number have ended for good. It is used once the experiment may end. */
  readonly closedBelow: number;
  /** The version of the experiment's stream that the reactions have reached; 0 if unknown. */
  readonly seen: number;
};

type Saved = LogFold & { readonly fanOuts: readonly FanOut[] };

export type FanOutDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly waits: Waits;
};

export class FanOuts {
  readonly loop: EffectLoop;
  readonly proposals: Proposals;
  readonly #deps: FanOutDeps;
  readonly #all = new Map<string, FanOut>();
  /** The experiments with work left, in the order of their turns. */
  readonly #ready = new Set<string>();
  /** The open trial that each experiment waits for before it can end. */
  readonly #waiting = new Map<string, number>();
  #event: string;
  #position: number;
  #savedPosition: number;
  #parts = 0;
  /** Saves run one after the other, so that the last one is the newest. */
  #saving: Promise<void> = Promise.resolve();

  private constructor(deps: FanOutDeps, { event, position, fanOuts }: Saved) {
    this.#deps = deps;
    this.#event = event;
    this.#position = position;
    this.#savedPosition = position;
    this.proposals = proposalsOf(deps.log);
    for (const fanOut of fanOuts) this.#put(fanOut);
    this.loop = new EffectLoop("fan-outs", deps, (signal) => this.#step(signal));
  }

  /** Opens the fan-outs at the cursor of the reactions. */
  static async open(deps: FanOutDeps, consumer: string): Promise<FanOuts> {
    const { log } = deps;
    const saved = await loadLogFold<Saved>(deps, fanOutsPlace);
    const nothing = { event: "", position: 0, fanOuts: [] };
    const fanOuts = new FanOuts(deps, typeof saved === "string" ? nothing : saved);
    const { position } = await log.cursor(consumer, 0);
    await fanOuts.#readTo(position);
    // The save spares the next leader the pages that were read, if this leader's lease ends soon.
    if (fanOuts.#isSaveDue) await fanOuts.#save();
    return fanOuts;
  }

  async #readTo(position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await this.#deps.log.readAll(this.#position, limit);
      for (const stored of page) {
        const type = shortNameOf(stored.type);
        if (wishes.has(type) || type === "SearchCompleted") this.#start(stored);
        this.#pass(stored);
      }
      if (page.length === 0) return;
    }
  }

  /** Whether no fan-out has work until another event arrives. */
  get isIdle(): boolean {
    return this.#ready.size === 0;
  }

  /**
   * Begins a fan-out, in the reaction to an event that concerns more trials than a reaction may read. It is saved
   * before the reaction counts as done, so it is not lost for a retried parked event either.
   */
  async begin(event: StoredEvent): Promise<void> {
    this.#start(event);
    await this.#save();
    this.loop.wake();
  }

  /** Begins a fan-out that may end the experiment. If one exists, it already waits for the next open trial. */
  async lookForEnd(event: StoredEvent): Promise<void> {
    const isKnown = this.#all.has(experimentOf(event));
    if (isKnown && shortNameOf(event.type) === "TrialEnded") return;
    this.#start(event);
    if (!isKnown) await this.#save();
    this.loop.wake();
  }

  #start(event: StoredEvent): void {
    const { type, position } = event;
    const experiment = experimentOf(event);
    const known = this.#all.get(experiment);
    const isWish = wishes.has(shortNameOf(type));
    // An event that can only end the experiment does not restart the walk over its trials.
    const next = isWish ? 1 : (known?.next ?? Number.MAX_SAFE_INTEGER);
    const cause = isWish ? position : (known?.cause ?? position);
    const seen = isWish ? event.version : (known?.seen ?? 0);
    this.#put({ experiment, cause, next, closedBelow: known?.closedBelow ?? 1, seen });
  }

  #put(fanOut: FanOut): void {
    const { experiment } = fanOut;
    this.#all.set(experiment, fanOut);
    this.#waiting.delete(experiment);
    this.#ready.add(experiment);
  }

  /** Notes an event whose reaction is done. */
  observe(stored: StoredEvent): void {
    this.#pass(stored);
    if (!this.#isSaveDue) return;
    this.#save().catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, "fan_outs_not_saved");
    });
  }

  get #isSaveDue(): boolean {
    return this.#position - this.#savedPosition >= limits.fanOutsSavedEveryEvents;
  }

  #pass({ id, stream, type, position, version }: StoredEvent): void {
    if (position >= this.#position) {
      this.#position = position;
      this.#event = id;
    }
    const category = categoryOf(stream);
    if (category === "experiment") {
      const experiment = idOf(stream);
      if (shortNameOf(type) === "ExperimentEnded") this.#remove(experiment);
      else this.#see(experiment, version);
    } else if (category === "trial" && this.#waiting.size > 0) {
      const trial = parseTrialId(idOf(stream));
      if (trial === null || this.#waiting.get(trial.experiment) !== trial.number) return;
      if (shortNameOf(type) !== "TrialEnded") return;
      this.#waiting.delete(trial.experiment);
      this.#ready.add(trial.experiment);
      this.loop.wake();
    }
  }

  #see(experiment: string, version: number): void {
    const fanOut = this.#all.get(experiment);
    if (fanOut === undefined || fanOut.seen >= version) return;
    this.#all.set(experiment, { ...fanOut, seen: version });
    this.#ready.add(experiment);
    this.loop.wake();
  }

  /** Whether the experiment's stream has events that the reactions have not reached. */
  async #isAhead({ experiment, seen }: FanOut): Promise<boolean> {
    const { version } = await this.#deps.executor.cache.load(foldOf(experiments), experiment);
    return version > seen;
  }

  #remove(experiment: string): void {
    this.#all.delete(experiment);
    this.#ready.delete(experiment);
    this.#waiting.delete(experiment);
  }

  #save(): Promise<void> {
    const saved = this.#saving
      .catch(() => {})
      .then(async () => {
        const [event, position] = [this.#event, this.#position];
        this.#savedPosition = position;
        const saved: Saved = { event, position, fanOuts: [...this.#all.values()] };
        await saveLogFold(this.#deps.log, fanOutsPlace, saved);
      });
    this.#saving = saved;
    return saved;
  }

  /** Runs one part for the experiment whose turn it is. */
  async #step(signal: AbortSignal): Promise<number | null> {
    const [experiment] = this.#ready;
    const fanOut = experiment === undefined ? undefined : this.#all.get(experiment);
    if (fanOut === undefined) return null;
    this.#ready.delete(fanOut.experiment);
    this.#ready.add(fanOut.experiment);
    const after = await this.#part(fanOut).catch((error: unknown) => {
      if (!isOfOneDecision(error)) throw error;
      this.#deps.logger.error({ err: error, ...fanOut }, "fan_out_given_up");
      return null;
    });
    // A newer command may have restarted the fan-out meanwhile, or the experiment may have ended.
    if (this.#all.get(fanOut.experiment) === fanOut) {
      if (after === null) this.#remove(fanOut.experiment);
      else this.#all.set(fanOut.experiment, after);
    }
    this.#parts += 1;
    if (after === null || this.#parts % limits.fanOutsSavedEveryParts === 0) await this.#save();
    // The pause lets other work of the event loop run, however fast the log answers.
    await pause(this.#deps.clock, 0, signal);
    return this.#ready.size > 0 ? 0 : null;
  }

  /** Runs a part. Returns the progress after it; null if the fan-out is done. */
  async #part(fanOut: FanOut): Promise<FanOut | null> {
    const { cache } = this.#deps.executor;
    const { state: search } = await cache.load(searches, fanOut.experiment);
    const numbers = trialsNotOver(search, fanOut.next, limits.trialsPerPart);
    const last = numbers.at(-1);
    if (last === undefined) return this.#lookForEnd(fanOut);
    await this.#bringAlong(fanOut, numbers);
    if (!(await this.#isAhead(fanOut))) return { ...fanOut, next: last + 1 };
    if (this.#all.get(fanOut.experiment) === fanOut) this.#ready.delete(fanOut.experiment);
    return fanOut;
  }

  async #bringAlong(fanOut: FanOut, numbers: readonly number[]): Promise<void> {
    const identity = await this.#identityOf(fanOut);
    try {
      await this.#decide(identity, async (work) => {
        // Checked in each attempt: a retry after a conflict means that the experiment's stream has changed.
        if (await this.#isAhead(fanOut)) return;
        for (const number of numbers) {
          await advance(work, trialId(fanOut.experiment, number), this.#deps.waits);
        }
      });
    } catch (error) {
      if (!isOfOneDecision(error)) throw error;
      if (numbers.length > 1) {
        // Deciding one trial at a time finds the one that fails.
        for (const number of numbers) await this.#bringAlong(fanOut, [number]);
        return;
      }
      const trial = trialId(fanOut.experiment, numbers[0] ?? 0);
      this.#deps.logger.error({ err: error, trial }, "trial_left_out_of_fan_out");
    }
  }

  /** Walks over the trials up to the first open one; ends the experiment after the last one. */
  async #lookForEnd(fanOut: FanOut): Promise<FanOut | null> {
    const { cache } = this.#deps.executor;
    const { experiment: id } = fanOut;
    const { state: experiment } = await cache.load(foldOf(experiments), id);
    const { state: search } = await cache.load(searches, id);
    if (!mayEnd(experiment, search)) return null;
    const numbers = trialsNotOver(search, fanOut.closedBelow, limits.trialsPerPart);
    let { closedBelow } = fanOut;
    for (const number of numbers) {
      // Noted before the read, because the trial may end meanwhile.
      this.#waiting.set(id, number);
      const { state: trial } = await cache.load(foldOf(trials), trialId(id, number));
      if (!isClosed(experiment, trial)) {
        if (this.#waiting.get(id) === number) this.#ready.delete(id);
        return { ...fanOut, closedBelow };
      }
      closedBelow = number + 1;
    }
    this.#waiting.delete(id);
    if (numbers.length > 0) return { ...fanOut, closedBelow };
    await this.#end(fanOut);
    return null;
  }

  async #end(fanOut: FanOut): Promise<void> {
    const identity = await this.#identityOf(fanOut);
    try {
      await this.#decide(identity, (work) => decideEnd(work, fanOut.experiment));
    } catch (error) {
      if (!isOfOneDecision(error)) throw error;
      const { experiment } = fanOut;
      this.#deps.logger.error({ err: error, experiment }, "experiment_not_ended");
    }
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

function experimentOf({ stream }: StoredEvent): string {
  const id = idOf(stream);
  return parseTrialId(id)?.experiment ?? id;
}
