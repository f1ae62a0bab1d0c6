/**
 * The fan-out of an experiment's commands to very many trials: pausing, activating and stopping them,
 * and seeing that the last has ended. It is done beside the reactions, in bounded parts, one experiment's after the
 * other's, so that nobody's event waits for more than a part.
 *
 * The wish is the experiment's own event. A fan-out is how far it has been brought: the trials before `next` were
 * decided on after the wish. Each part decides by the newest state, guarded, by the same rule as every reaction; so it
 * does not matter which wish began it, how often a trial is reached, or what else happens to it meanwhile. A newer wish
 * begins again at the first trial. A wish that the reactions have not reached yet waits for them: an event before it
 * in the log may decide where the next run starts.
 *
 * Fan-outs are folded from the log (each wish, until the experiment has ended), minus those that are known to be done.
 * They are saved when one begins and now and then; a new holder reads the rest of the log up to where the reactions
 * have come, and continues. One that is done already is found to be so. Where nothing is saved the whole log is read.
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
import { isClosed, mayEnd } from "../core/policy/experiment-end.ts";
import { limits } from "../limits.ts";
import { advance, type Waits } from "./advance.ts";
import { type Proposals, proposalsOf } from "./continuation.ts";
import { decideEnd } from "./end-experiment.ts";
import { type LogFold, type LogFoldPlace, loadLogFold, saveLogFold } from "./log-folds.ts";
import { isOfOneDecision } from "./one-decision.ts";
import { experiments, searches, trials } from "../streams.ts";

export const fanOutsPlace: LogFoldPlace = {
  stream: "experiment-fan-outs",
  schema: "fan-outs/3",
  what: "the fan-outs",
};

const wishes: ReadonlySet<string> = new Set([
  "ExperimentActivated",
  "ExperimentPaused",
  "ExperimentStopRequested",
]);

type FanOut = {
  readonly experiment: string;
  /** The position of the event that began it: whose story its decisions belong to. */
  readonly cause: number;
  /** The trials before this one were brought along after the wish. */
  readonly next: number;
  /** The number below which no trial decides anything more; it counts once the experiment may end. */
  readonly closedBelow: number;
  /** The version of the experiment's stream that the reactions have reached; 0 for not known. */
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
  /** Experiments with something to do, in the order of their turns. */
  readonly #ready = new Set<string>();
  /** The trial whose end each experiment waits for. */
  readonly #waiting = new Map<string, number>();
  #event: string;
  #position: number;
  #savedPosition: number;
  #parts = 0;
  /** Saves follow each other, so that the last one is the newest. */
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

  /** Level with the reactions. */
  static async open(deps: FanOutDeps, consumer: string): Promise<FanOuts> {
    const { log } = deps;
    const saved = await loadLogFold<Saved>(deps, fanOutsPlace);
    const nothing = { event: "", position: 0, fanOuts: [] };
    const fanOuts = new FanOuts(deps, typeof saved === "string" ? nothing : saved);
    const { position } = await log.cursor(consumer, 0);
    await fanOuts.#readTo(position);
    // A page is not read again, should the term be a short one.
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

  /** Nothing is to be done until somebody's event says otherwise. */
  get isIdle(): boolean {
    return this.#ready.size === 0;
  }

  /**
   * In the reaction to a wish, or to what may end an experiment, that concerns more trials than a reaction may look at.
   * Saved before the reaction counts as done, so that it holds also for an event that is driven again after it was
   * parked.
   */
  async begin(event: StoredEvent): Promise<void> {
    this.#start(event);
    await this.#save();
    this.loop.wake();
  }

  /** The same for what may be the end of an experiment. A trial that ends is waited for already, where one is known. */
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
    // A command that only ends it leaves the trials as they are.
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

  /** An event whose reaction is done. */
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

  /** Whether the experiment's stream holds more than the reactions have reached. */
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

  /** One part of the experiment whose turn it is. */
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
    // Unless a newer wish has begun again meanwhile, or the experiment has ended.
    if (this.#all.get(fanOut.experiment) === fanOut) {
      if (after === null) this.#remove(fanOut.experiment);
      else this.#all.set(fanOut.experiment, after);
    }
    this.#parts += 1;
    if (after === null || this.#parts % limits.fanOutsSavedEveryParts === 0) await this.#save();
    // Others that wait for the event loop get their turn, however fast the log answers.
    await pause(this.#deps.clock, 0, signal);
    return this.#ready.size > 0 ? 0 : null;
  }

  /** How far it is after a part; null when it is done. */
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
        // Asked at each try: a try that fails because the experiment has moved is the one that is ahead.
        if (await this.#isAhead(fanOut)) return;
        for (const number of numbers) {
          await advance(work, trialId(fanOut.experiment, number), this.#deps.waits);
        }
      });
    } catch (error) {
      if (!isOfOneDecision(error)) throw error;
      if (numbers.length > 1) {
        // One by one shows which of them it is.
        for (const number of numbers) await this.#bringAlong(fanOut, [number]);
        return;
      }
      const trial = trialId(fanOut.experiment, numbers[0] ?? 0);
      this.#deps.logger.error({ err: error, trial }, "trial_left_out_of_fan_out");
    }
  }

  /** Walks over the trials until one that is not closed; ends the experiment after the last. */
  async #lookForEnd(fanOut: FanOut): Promise<FanOut | null> {
    const { cache } = this.#deps.executor;
    const { experiment: id } = fanOut;
    const { state: experiment } = await cache.load(foldOf(experiments), id);
    const { state: search } = await cache.load(searches, id);
    if (!mayEnd(experiment, search)) return null;
    const numbers = trialsNotOver(search, fanOut.closedBelow, limits.trialsPerPart);
    let { closedBelow } = fanOut;
    for (const number of numbers) {
      // Before the look: its end may pass by meanwhile.
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

  /** A part is a commit of the wish's story. */
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
