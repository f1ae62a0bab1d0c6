/**
 * Simulated users who submit experiments and change their minds, over the bus; each command is retried until it is
 * answered.
 */
import type { Bus } from "@trainyard/bus";
import { decodeEvent } from "@trainyard/contracts";
import { StopKind } from "@trainyard/contracts/events";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { idOf, pause } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
import type { ManualClock } from "@trainyard/testing";
import { Asking } from "./asking.ts";
import type { Chance } from "./chance.ts";
import { defaultPlace, documentOf, type Submission } from "./submissions.ts";

export type PeopleDeps = {
  readonly clock: ManualClock;
  readonly chance: Chance;
  readonly bus: Bus;
  /** Whether the users change their minds. */
  readonly fickle: boolean;
  readonly log: MemoryLog;
};

/** The interval of checks after a rewind, until all services have noticed it. */
const lookAgainMs = 5_000;

export class People {
  readonly #deps: PeopleDeps;
  readonly #asking: Asking;
  /** The ids of the submitted experiments, in order. */
  readonly submitted: string[] = [];
  readonly #submissions: Submission[] = [];

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
    this.#asking = new Asking(deps.bus, deps.clock);
  }

  /** True once all experiments and all changes were requested. */
  #hasAsked = false;
  /** The number of rewinds since the users last checked. */
  #toMend = 0;

  /** Submits one after the other, so that the experiments' numbers follow the submissions. */
  async submitAll(submissions: readonly Submission[]): Promise<void> {
    for (const submission of submissions) await this.#submit(submission);
    this.#hasAsked = true;
  }

  /** After a rewind, checks until the log has all submitted experiments, submits lost ones again, and lets them run. */
  async mend(): Promise<void> {
    this.#toMend += 1;
    if (this.#toMend > 1) return;
    while (this.#toMend > 0) {
      const seen = this.#toMend;
      await pause(this.#deps.clock, lookAgainMs);
      for (const [n, submission] of this.#submissions.entries()) {
        if (!this.#isThere(n)) this.submitted[n] = await this.#create(submission, false);
      }
      if (!this.#allThere) continue;
      for (const experiment of this.submitted) await this.#activate(experiment);
      this.#toMend -= seen;
    }
  }

  /** True if every experiment is in the log, and no change is pending. */
  get content(): boolean {
    return this.#toMend === 0 && this.#allThere;
  }

  get #allThere(): boolean {
    return this.#hasAsked && this.#submissions.every((_, n) => this.#isThere(n));
  }

  /** After a rewind numbers are used again, so an experiment is identified by its seed. */
  #isThere(n: number): boolean {
    const [created] = this.#deps.log.store.stream(`experiment-${this.submitted[n]}`);
    const event = created === undefined ? null : decodeEvent(created);
    return event?.type === "ExperimentCreated" && event.data.seed === this.#submissions[n]?.seed;
  }

  async #submit(submission: Submission): Promise<void> {
    const { chance, fickle } = this.#deps;
    const paused = fickle && chance.happens(0.2);
    const id = await this.#create(submission, paused);
    this.submitted.push(id);
    this.#submissions.push(submission);
    if (fickle) await this.#changeMinds(id, paused);
  }

  async #create({ config, seed }: Submission, paused: boolean): Promise<string> {
    const request = {
      config: documentOf(config),
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      contextDeletions: 0,
      submissionDeletions: 0,
      seed,
      owner: "",
      paused,
      place: defaultPlace,
    };
    const reply = await this.#asking.ask(
      "CreateExperiment",
      encodeRequest("experiments", "CreateExperiment", request),
    );
    if (reply.kind !== "ok") throw new Error(`an experiment was refused: ${JSON.stringify(reply)}`);
    return idOf(decodeReply("experiments", "CreateExperiment", reply.body).stream);
  }

  async #activate(experiment: string): Promise<void> {
    await this.#asking.ask(
      "ActivateExperiment",
      encodeRequest("experiments", "ActivateExperiment", { experiment }),
    );
  }

  /** In the end an experiment may run, or is stopped, after any changes. */
  async #changeMinds(experiment: string, paused: boolean): Promise<void> {
    const { clock, chance } = this.#deps;
    let pausedNow = paused;
    for (let change = chance.between(0, 4); change > 0; change -= 1) {
      await pause(clock, chance.between(0, 12_000));
      if (chance.happens(0.15)) await this.#stop(experiment);
      else if (chance.happens(0.25)) await this.#useVerb(experiment);
      else if (pausedNow || chance.happens(0.2)) {
        await this.#activate(experiment);
        pausedNow = false;
      } else {
        await this.#asking.ask(
          "PauseExperiment",
          encodeRequest("experiments", "PauseExperiment", { experiment }),
        );
        pausedNow = true;
        // Some changes follow each other immediately.
        if (chance.happens(0.5)) change += 1;
      }
    }
    await this.#activate(experiment);
    if (chance.happens(0.4)) await this.#takeUp(experiment);
    if (chance.happens(0.2)) await this.#delete(experiment);
  }

  /** Continues an experiment that was stopped, or failed. */
  async #takeUp(experiment: string): Promise<void> {
    const { clock, chance } = this.#deps;
    if (chance.happens(0.5)) await this.#stop(experiment);
    await pause(clock, chance.between(0, 60_000));
    const request = { experiment, lengthUnit: "" };
    await this.#asking.ask(
      "ContinueExperiment",
      encodeRequest("experiments", "ContinueExperiment", request),
    );
  }

  /** Deletes the experiment, which is refused before its end; restores it within the grace period, or too late. */
  async #delete(experiment: string): Promise<void> {
    const { clock, chance } = this.#deps;
    await pause(clock, chance.between(0, 60_000));
    const request = encodeRequest("experiments", "DeleteExperiment", { experiment, reason: "" });
    await this.#asking.ask("DeleteExperiment", request);
    if (chance.happens(0.5)) return;
    await pause(clock, chance.between(0, 45_000));
    const undo = encodeRequest("experiments", "UndeleteExperiment", { experiment });
    await this.#asking.ask("UndeleteExperiment", undo);
  }

  /** Sends a verb that may be accepted or refused, since it comes before or after an end. */
  async #useVerb(experiment: string): Promise<void> {
    const { chance } = this.#deps;
    const trial = `${experiment}.${chance.between(1, 3)}`;
    const requests: readonly (readonly [string, Uint8Array])[] = [
      [
        "ContinueExperiment",
        encodeRequest("experiments", "ContinueExperiment", { experiment, lengthUnit: "" }),
      ],
      ["RestartTrial", encodeRequest("experiments", "RestartTrial", { trial })],
      [
        "DeleteExperiment",
        encodeRequest("experiments", "DeleteExperiment", { experiment, reason: "" }),
      ],
      ["UndeleteExperiment", encodeRequest("experiments", "UndeleteExperiment", { experiment })],
      ["KillTrial", encodeRequest("experiments", "KillTrial", { trial, reason: "" })],
      [
        "ArchiveExperiment",
        encodeRequest("experiments", "ArchiveExperiment", {
          experiment,
          archived: true,
          reason: "",
        }),
      ],
      [
        "ArchiveExperiment",
        encodeRequest("experiments", "ArchiveExperiment", {
          experiment,
          archived: false,
          reason: "",
        }),
      ],
      [
        "DescribeExperiment",
        encodeRequest("experiments", "DescribeExperiment", {
          experiment,
          notes: "n",
          addLabels: [],
          removeLabels: [],
        }),
      ],
    ];
    const [name, request] = requests[chance.between(0, requests.length - 1)] ?? [];
    if (name !== undefined && request !== undefined) await this.#asking.ask(name, request);
  }

  async #stop(experiment: string): Promise<void> {
    const kind = this.#deps.chance.happens(0.5) ? StopKind.KILL : StopKind.CANCEL;
    const request = { experiment, kind, reason: "" };
    await this.#asking.ask(
      "StopExperiment",
      encodeRequest("experiments", "StopExperiment", request),
    );
  }
}
