/**
 * The history of one experiment's checkpoints in plain tables, with the expected condemnations by counting. It is
 * written from the promises of the README, independently of the service's code. It also makes the events of other
 * services for each step.
 */
import type { AnyEvent } from "@trainyard/contracts";
import type { Candidate } from "../core/retention-rule/condemned.ts";
import * as told from "./events.ts";
import type { Step } from "./histories.ts";

type Trial = {
  ended: boolean;
  run: number;
  steps: number;
  latest: string;
  readonly source: string;
  runFrom: string;
};
type Stored = Candidate & { readonly number: number; pins: boolean; damaged: boolean };
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

  referrers(checkpoint: string): readonly string[] {
    return this.#trials.flatMap(({ ended, source, runFrom }, at) =>
      !ended && (source === checkpoint || runFrom === checkpoint) ? [`1.${at + 1}`] : [],
    );
  }

  liveTrials(): readonly number[] {
    return this.#trials.flatMap(({ ended }, at) => (ended ? [] : [at]));
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
      return other.checkpoint < checkpoint;
    };
    if (one.value !== null && count(whole, isBetter) < best) return "it is the experiment's best";
    if (one.value !== null && count(own, isBetter) < trialBest) return "it is its trial's best";
    const isLater = (other: Candidate): boolean =>
      other.step > one.step || (other.step === one.step && other.run > one.run);
    return count(own, isLater) < trialLatest ? "it is its trial's latest" : null;
  }

  /** Returns the events of other services for a step; none if the step is impossible. */
  take(step: Step): readonly Told[] {
    switch (step.kind) {
      case "trial":
        return this.#ended ? [] : this.#newTrial(step.from);
      case "checkpoint":
        return this.#newCheckpoint(step.trial, step.value);
      case "restart":
        return this.#restart(step.trial);
      case "end_trial":
        return this.#endTrial(step.trial);
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
    this.#trials.push({ ended: false, run: 1, steps: 0, latest: "", source, runFrom: source });
    const id = `1.${this.#trials.length}`;
    const events = [told.trialCreated(id, source), told.runRequested(1, source)];
    return [{ stream: `trial-${id}`, events }];
  }

  #newCheckpoint(number: number, value: number | null): readonly Told[] {
    const trial = this.#at(this.#trials, number);
    if (trial === undefined || trial.ended) return [];
    trial.steps += 1;
    const id = `1.${this.#trials.indexOf(trial) + 1}`;
    const checkpoint = `c${String(this.#stored.length).padStart(4, "0")}`;
    const { steps: step, run } = trial;
    const rest = { pins: false, damaged: false, number: this.#stored.length };
    this.#stored.push({ checkpoint, trial: id, run, step, value, ...rest });
    trial.latest = checkpoint;
    return [
      {
        stream: `checkpoint-${checkpoint}`,
        events: [told.declared(id, step, "/c"), told.completed(id, step, 1, 1)],
      },
      { stream: `trial-${id}`, events: [told.trialCheckpointed(checkpoint, run, step)] },
    ];
  }

  /** Ends the trial's run; the next run starts from its latest checkpoint, or from the experiment's source. */
  #restart(number: number): readonly Told[] {
    const trial = this.#at(this.#trials, number);
    if (trial === undefined || trial.ended) return [];
    const from = trial.latest === "" ? trial.source : trial.latest;
    const ended = told.runEnded(trial.run);
    trial.run += 1;
    trial.runFrom = from;
    const step = trial.latest === "" ? 0 : trial.steps;
    const events = [ended, told.runRequested(trial.run, from, step)];
    return [{ stream: `trial-1.${this.#trials.indexOf(trial) + 1}`, events }];
  }

  #endTrial(number: number): readonly Told[] {
    const trial = this.#at(this.#trials, number);
    if (trial === undefined || trial.ended) return [];
    trial.ended = true;
    const events = [told.runEnded(trial.run), told.trialEnded()];
    return [{ stream: `trial-1.${this.#trials.indexOf(trial) + 1}`, events }];
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

  #at<Item>(items: readonly Item[], at: number): Item | undefined {
    return items.length === 0 ? undefined : items[at % items.length];
  }
}
