/**
 * The history of one experiment's checkpoints in plain tables, with the expected condemnations by counting. It is
 * written from the promises of the README, independently of the service's code. It also makes the events of other
 * services for each step.
 */
import type { AnyEvent } from "@trainyard/contracts";
import type { Candidate } from "../core/retention-rule/condemned.ts";
import * as told from "./events.ts";
import type { Step } from "./histories.ts";

/** A validation that a run has recorded, with the checkpoint that it values. */
type Recorded = { readonly key: string; readonly step: number; readonly of: Stored };
/** The run's spool: its validations in order, and how many of them have arrived. */
type Run = { readonly id: string; readonly spool: Recorded[]; sent: number; isLost: boolean };
type Trial = {
  ended: boolean;
  run: number;
  runs: Run[];
  steps: number;
  latest: string;
  readonly source: string;
  runFrom: string;
};
type Stored = Omit<Candidate, "value"> & {
  readonly number: number;
  /** The value that has arrived. */
  value: number | null;
  /** The value that was recorded for the checkpoint. */
  readonly recorded: number | null;
  pins: boolean;
  damaged: boolean;
};
type Told = { readonly stream: string; readonly events: readonly AnyEvent[] };

export class Oracle {
  readonly #policy: told.SavePolicy;
  readonly #smaller: boolean;
  readonly #trials: Trial[] = [];
  readonly #stored: Stored[] = [];
  /** The checkpoints that open proposals name. */
  readonly #proposed: string[] = [];
  #proposals = 100;
  #ended = false;
  #deletion: "none" | "asked" | "done" = "none";
  /** Whether all runs ended so long ago that no value is waited for. */
  #isLongOver = false;

  constructor(policy: told.SavePolicy, smaller: boolean) {
    this.#policy = policy;
    this.#smaller = smaller;
  }

  /** Returns the whole checkpoints, which compete. */
  candidates(): readonly Candidate[] {
    return this.#stored.filter(({ damaged }) => !damaged);
  }

  all(): readonly string[] {
    return this.#stored.map(({ checkpoint }) => checkpoint);
  }

  /** Sets the deletion of the experiment: asked for, undone, or done. */
  deletion(state: "none" | "asked" | "done"): void {
    this.#deletion = state;
  }

  liveTrials(): readonly number[] {
    return this.#trials.flatMap(({ ended }, at) => (ended ? [] : [at]));
  }

  longOver(): void {
    this.#isLongOver = true;
  }

  end(): void {
    this.#ended = true;
    this.#proposed.length = 0;
  }

  /** Returns why a checkpoint must not be condemned; null if the checkpoint must be condemned. */
  keeps(checkpoint: string): string | null {
    const one = this.#stored.find((stored) => stored.checkpoint === checkpoint);
    if (one === undefined) return "it was never stored";
    if (this.#deletion === "asked") return "its experiment may be brought back";
    if (one.pins) return "it is pinned";
    if (this.#deletion === "done") return null;
    if (one.damaged) return "it is damaged";
    if (this.#proposed.includes(checkpoint)) return "a proposal names it";
    for (const { ended, latest, source, runFrom } of this.#trials) {
      if (ended) continue;
      if (latest === checkpoint) return "a live trial continues from it";
      if (source === checkpoint || runFrom === checkpoint) return "a live trial began from it";
    }
    const [best, trialBest, trialLatest] = this.#policy;
    const whole = this.candidates();
    const own = whole.filter(({ trial }) => trial === one.trial);
    const count = (others: readonly Candidate[], wins: (other: Candidate) => boolean): number =>
      others.filter((other) => other.checkpoint !== checkpoint && wins(other)).length;
    const isBetter = (other: Candidate): boolean => {
      if (other.value === null || one.value === null) return false;
      if (other.value !== one.value) return other.value < one.value === this.#smaller;
      if (other.step !== one.step) return other.step < one.step;
      return other.trial === one.trial ? other.run > one.run : other.trial < one.trial;
    };
    if (one.value !== null && count(whole, isBetter) < best) return "it is the experiment's best";
    if (one.value !== null && count(own, isBetter) < trialBest) return "it is its trial's best";
    if (one.value === null && this.#isUnderWay(one)) return "its value is under way";
    const isLater = (other: Candidate): boolean =>
      other.step > one.step || (other.step === one.step && other.run > one.run);
    return count(own, isLater) < trialLatest ? "it is its trial's latest" : null;
  }

  #isUnderWay(one: Stored): boolean {
    const runs = this.#isLongOver ? [] : this.#trials.flatMap(({ runs }) => runs);
    return runs.some(({ spool, sent }) => spool.slice(sent).some(({ of }) => of === one));
  }

  /** Returns the events of other services for a step; none if the step is impossible. */
  take(step: Step): readonly Told[] {
    switch (step.kind) {
      case "trial":
        return this.#ended ? [] : this.#newTrial(step.from);
      case "checkpoint":
        return this.#newCheckpoint(step);
      case "deliver":
        return this.#deliver(this.#at(this.#runs(), step.run), step.count);
      case "return":
        return this.#return(step.run);
      case "restart":
        return this.#restart(step.trial, step.isLost);
      case "end_trial":
        return this.#endTrial(step.trial, step.isLost);
      case "continue":
        return this.#continue(step.trial);
      case "propose":
        return this.#propose(step.from);
      case "pin":
      case "unpin":
      case "damage":
      case "repair":
        return this.#mark(step.kind, step.checkpoint);
      default:
        return [];
    }
  }

  #newTrial(from: number): readonly Told[] {
    const source = this.#at(this.#stored, from)?.checkpoint ?? "";
    const id = `1.${this.#trials.length + 1}`;
    const began = { source, runFrom: source };
    this.#trials.push({
      ended: false,
      run: 1,
      steps: 0,
      latest: "",
      runs: [runOf(id, 1)],
      ...began,
    });
    const events = [told.trialCreated(id, source), told.runRequested(1, source)];
    return [{ stream: `trial-${id}`, events }];
  }

  #newCheckpoint(step: Step & { readonly kind: "checkpoint" }): readonly Told[] {
    const trial = this.#at(this.#trials, step.trial);
    if (trial === undefined || trial.ended) return [];
    trial.steps += 1;
    const id = this.#idOf(trial);
    const checkpoint = `c${String(this.#stored.length).padStart(4, "0")}`;
    const { steps, run } = trial;
    const rest = { pins: false, damaged: false, number: this.#stored.length };
    const values = { value: null, recorded: step.value };
    const stored = { checkpoint, trial: id, run, step: steps, ...values, ...rest };
    this.#stored.push(stored);
    trial.latest = checkpoint;
    const own = trial.runs.at(-1);
    const record = (): readonly Told[] => {
      if (step.value === null || own === undefined) return [];
      own.spool.push({ key: `0-${own.spool.length + 1}`, step: steps, of: stored });
      return step.isLate ? [] : this.#deliver(own, own.spool.length);
    };
    const before = step.isValidatedFirst ? record() : [];
    const lastValidation = own?.spool.at(-1)?.key ?? "";
    const declared = told.declared(id, steps, "/c", "", { run, lastValidation });
    const events = [declared, told.completed(id, steps, 1, 1, run)];
    const stores = [
      { stream: `checkpoint-${checkpoint}`, events },
      { stream: `trial-${id}`, events: [told.trialCheckpointed(checkpoint, run, steps)] },
    ];
    return [...before, ...stores, ...(step.isValidatedFirst ? [] : record())];
  }

  /** The next reports of a run arrive, in the order of its spool. */
  #deliver(run: Run | undefined, count: number): readonly Told[] {
    if (run === undefined) return [];
    const arriving = run.spool.slice(run.sent, run.sent + count);
    run.sent += arriving.length;
    return arriving.map(({ key, step, of }) => {
      of.value = of.recorded;
      const event = told.validated(of.trial, step, of.recorded ?? 0, {
        run: of.run,
        reportKey: key,
      });
      return { stream: `measurement-${of.trial}`, events: [event] };
    });
  }

  /** The agent of a lost run returns and names the last validation that the run recorded. */
  #return(at: number): readonly Told[] {
    const run = this.#at(
      this.#runs().filter(({ isLost }) => isLost),
      at,
    );
    if (run === undefined) return [];
    run.isLost = false;
    const event = told.agentReturned(run.id, run.spool.at(-1)?.key ?? "");
    return [{ stream: "agent-a", events: [event] }];
  }

  #endRun(trial: Trial, isLost: boolean): readonly Told[] {
    const run = trial.runs.at(-1);
    if (run === undefined) return [];
    run.isLost = isLost;
    const ended = isLost
      ? told.allocationEnded()
      : told.allocationEnded(run.spool.at(-1)?.key ?? "");
    return [{ stream: `allocation-${run.id}`, events: [ended] }];
  }

  /** Requests the trial's next run, from its latest checkpoint or from the experiment's source. */
  #nextRun(trial: Trial): AnyEvent {
    const from = trial.latest === "" ? trial.source : trial.latest;
    trial.run += 1;
    trial.runs.push(runOf(this.#idOf(trial), trial.run));
    trial.runFrom = from;
    return told.runRequested(trial.run, from, trial.latest === "" ? 0 : trial.steps);
  }

  #restart(number: number, isLost: boolean): readonly Told[] {
    const trial = this.#at(this.#trials, number);
    if (trial === undefined || trial.ended) return [];
    const ended = this.#endRun(trial, isLost);
    const events = [told.runEnded(trial.run), this.#nextRun(trial)];
    return [...ended, { stream: `trial-${this.#idOf(trial)}`, events }];
  }

  #endTrial(number: number, isLost: boolean): readonly Told[] {
    const trial = this.#at(this.#trials, number);
    if (trial === undefined || trial.ended) return [];
    const ended = this.#endRun(trial, isLost);
    trial.ended = true;
    const events = [told.runEnded(trial.run), told.trialEnded()];
    return [...ended, { stream: `trial-${this.#idOf(trial)}`, events }];
  }

  #continue(number: number): readonly Told[] {
    const trial = this.#at(
      this.#trials.filter(({ ended }) => ended),
      number,
    );
    if (trial === undefined || this.#ended) return [];
    trial.ended = false;
    const events = [told.trialContinued(), this.#nextRun(trial)];
    return [{ stream: `trial-${this.#idOf(trial)}`, events }];
  }

  #propose(from: number): readonly Told[] {
    const donor = this.#at(this.#stored, from);
    if (donor === undefined || this.#ended) return [];
    this.#proposals += 1;
    this.#proposed.push(donor.checkpoint);
    const trial = Number(donor.trial.slice(2));
    const events = [told.proposed(this.#proposals, trial, donor.checkpoint)];
    return [{ stream: "search-1", events }];
  }

  #mark(kind: "pin" | "unpin" | "damage" | "repair", at: number): readonly Told[] {
    const one = this.#at(this.#stored, at);
    if (one === undefined) return [];
    const before = { pins: one.pins, damaged: one.damaged };
    if (kind === "pin" || kind === "unpin") one.pins = kind === "pin";
    else one.damaged = kind === "damage";
    if (before.pins === one.pins && before.damaged === one.damaged) return [];
    const event = {
      pin: told.pinned("ada"),
      unpin: told.unpinned("ada"),
      damage: told.damaged("x"),
      repair: told.repaired(),
    }[kind];
    return [{ stream: `checkpoint-${one.checkpoint}`, events: [event] }];
  }

  #idOf(trial: Trial): string {
    return `1.${this.#trials.indexOf(trial) + 1}`;
  }

  #runs(): readonly Run[] {
    return this.#trials.flatMap(({ runs }) => runs);
  }

  #at<Item>(items: readonly Item[], at: number): Item | undefined {
    return items.length === 0 ? undefined : items[at % items.length];
  }
}

function runOf(trial: string, run: number): Run {
  return { id: `${trial}#${run}`, spool: [], sent: 0, isLost: false };
}
