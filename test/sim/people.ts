/** People who submit experiments and change their minds, through the bus, each asking again until there is an answer. */
import type { Bus } from "@trainyard/bus";
import {
  AcceptedSchema,
  ActivateExperimentSchema,
  CreateExperimentSchema,
  PauseExperimentSchema,
  StopExperimentSchema,
} from "@trainyard/contracts/commands";
import { StopKind } from "@trainyard/contracts/events";
import { idOf, pause } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
import type { ManualClock } from "@trainyard/testing";
import { Asking } from "./asking.ts";
import type { Chance } from "./chance.ts";
import { documentOf, type Submission } from "./submissions.ts";

export type PeopleDeps = {
  readonly clock: ManualClock;
  readonly chance: Chance;
  readonly bus: Bus;
  /** Whether they change their minds. */
  readonly fickle: boolean;
};

export class People {
  readonly #deps: PeopleDeps;
  readonly #asking: Asking;
  /** The ids of what was submitted, in order of submission. */
  readonly submitted: string[] = [];

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
    this.#asking = new Asking(deps.bus, deps.clock);
  }

  /** Whether everything was submitted, and no change of mind is to come. */
  content = false;

  /** One after the other, so that the numbers of the experiments follow the submissions. */
  async submitAll(submissions: readonly Submission[]): Promise<void> {
    for (const submission of submissions) await this.#submit(submission);
    this.content = true;
  }

  async #submit(submission: Submission): Promise<void> {
    const { chance, fickle } = this.#deps;
    const paused = fickle && chance.happens(0.2);
    const { config, seed } = submission;
    const request = {
      config: documentOf(config),
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      seed,
      owner: "",
      paused,
    };
    const reply = await this.#asking.ask(
      "CreateExperiment",
      encodeRequest(CreateExperimentSchema, request),
    );
    if (reply.kind !== "ok") throw new Error(`an experiment was refused: ${JSON.stringify(reply)}`);
    const id = idOf(decodeReply(AcceptedSchema, reply.body).stream);
    this.submitted.push(id);
    if (fickle) await this.#changeMinds(id, paused);
  }

  /** Whatever they do, in the end it may run or is stopped. */
  async #changeMinds(experiment: string, paused: boolean): Promise<void> {
    const { clock, chance } = this.#deps;
    let pausedNow = paused;
    for (let change = chance.between(0, 4); change > 0; change -= 1) {
      await pause(clock, chance.between(0, 12_000));
      if (chance.happens(0.15)) await this.#stop(experiment);
      else if (pausedNow || chance.happens(0.2)) {
        await this.#asking.ask(
          "ActivateExperiment",
          encodeRequest(ActivateExperimentSchema, { experiment }),
        );
        pausedNow = false;
      } else {
        await this.#asking.ask(
          "PauseExperiment",
          encodeRequest(PauseExperimentSchema, { experiment }),
        );
        pausedNow = true;
        // Some in quick turn.
        if (chance.happens(0.5)) change += 1;
      }
    }
    await this.#asking.ask(
      "ActivateExperiment",
      encodeRequest(ActivateExperimentSchema, { experiment }),
    );
  }

  async #stop(experiment: string): Promise<void> {
    const kind = this.#deps.chance.happens(0.5) ? StopKind.KILL : StopKind.CANCEL;
    const request = { experiment, kind, reason: "" };
    await this.#asking.ask("StopExperiment", encodeRequest(StopExperimentSchema, request));
  }
}
