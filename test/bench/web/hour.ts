/** Frames of Watch as an hour of a busy cluster sends them: reports of running trials, and experiments that come, run and end. */
import type { ReplyOf } from "@trainyard/contracts";
import { draw } from "@trainyard/kernel";
import type { Replay, ReplayStream } from "./relay.ts";

const reportsPerSecond = 2;
/** An experiment comes, and the one before it ends. */
const changeEverySeconds = 5;
const idleMs = 1_000;
const startMs = 1_700_000_000_000;

export type Frame = ReplyOf<"watch">;
type Topic = { readonly kind: string; readonly id?: string };
type Experiment = ReplyOf<"getExperiment">;
type Trial = ReplyOf<"listTrials">["items"][number];
type Named = Topic & { readonly name: string };

export class Hour implements Replay<"watch"> {
  readonly call = "watch";
  readonly path = "/api/v1/watch";
  readonly #experiment: Experiment;
  readonly #trials: readonly Trial[];
  #stream: ReplayStream<Frame> | null = null;
  #topics: readonly Named[] = [];
  #second = 0;
  /** Of each trial. */
  reports = 0;
  frames = 0;

  /** The documents are those of the cluster: frames show them as they change. */
  constructor(experiment: Experiment, trials: readonly Trial[]) {
    this.#experiment = experiment;
    this.#trials = trials;
  }

  readonly run = async (body: string, stream: ReplayStream<Frame>): Promise<void> => {
    const { topics } = JSON.parse(body) as { readonly topics: readonly Topic[] };
    this.#topics = topics.map((topic, index) => ({ ...topic, name: `t${index}` }));
    this.#stream = stream;
    const names = this.#topics.map(({ name }) => name);
    await stream.send({ id: "", message: frameOf("opened", { topics: names }) });
    // A stream that is silent for long is taken for lost.
    while (!stream.signal.aborted) {
      await this.#bookmark(stream);
      await new Promise((resolve) => setTimeout(resolve, idleMs));
    }
  };

  /** Whether the stream that is open has this kind of topic. */
  follows(kind: string): boolean {
    return this.#topics.some((topic) => topic.kind === kind);
  }

  /** A position of the points and none of them: a page that hears it reads its series once more. */
  async openPoints(): Promise<void> {
    for (const { name } of this.#of("points")) {
      await this.#send("p0", [frameOf("points", { topic: name, items: [{ position: "1" }] })]);
    }
  }

  /** Resolves when all frames of these seconds are sent, each as soon as the browser takes it. */
  async replay(seconds: number): Promise<void> {
    for (const end = this.#second + seconds; this.#second < end; this.#second += 1) {
      const frames = this.#pointsOfSecond();
      if (this.#second % changeEverySeconds === 0) frames.push(...this.#changes());
      await this.#send(`s${this.#second}`, frames);
      if (this.#stream !== null) await this.#bookmark(this.#stream);
    }
  }

  #of(kind: string): readonly Named[] {
    return this.#topics.filter((topic) => topic.kind === kind);
  }

  async #send(id: string, frames: readonly Frame[]): Promise<void> {
    this.frames += frames.length;
    await this.#stream?.send(...frames.map((message) => ({ id, message })));
  }

  async #bookmark(stream: ReplayStream<Frame>): Promise<void> {
    const cursor = `s${this.#second}`;
    await stream.send({ id: cursor, message: frameOf("bookmark", { cursor }) });
  }

  #pointsOfSecond(): Frame[] {
    const items = Array.from({ length: reportsPerSecond }, (_, index) => {
      this.reports += 1;
      return this.#trials.map((trial, at) => ({
        position: String(1 + this.reports * this.#trials.length + at),
        point: {
          trial: trial.id,
          run: 1,
          group: "training",
          stepsCompleted: 10 + this.reports,
          reportedAtMs: startMs + 1_000 * this.#second + index,
          metrics: { loss: 1 / Math.sqrt(this.reports) + 0.1 * draw(62, trial.id, this.reports) },
          superseded: false,
          others: {},
          key: `r${this.reports}`,
        },
      }));
    }).flat();
    return this.#of("points").map(({ name }) => frameOf("points", { topic: name, items }));
  }

  /** The experiment and its trials as they are now; one more experiment that runs, and the end of that before it. */
  #changes(): readonly Frame[] {
    const progress = (this.#second % 1_000) / 1_000;
    const number = this.#second / changeEverySeconds;
    const others = [
      { ...this.#other(number), state: "ACTIVE" },
      { ...this.#other(number - 1), state: "COMPLETED", progress: 1 },
    ];
    const lists = this.#of("experiments").flatMap(({ name, id = "" }) => {
      const shown = { ...this.#experiment, progress };
      const all = id === "" ? [shown, ...others] : [shown];
      return all.map((value) => changeOf(name, { case: "experiment", value }));
    });
    const trials = this.#of("trials").flatMap(({ name }) =>
      this.#trials.map((trial) => {
        const value = { ...trial, progress };
        return changeOf(name, { case: "trial", value });
      }),
    );
    return [...lists, ...trials];
  }

  #other(number: number): Experiment {
    const createdAtMs = startMs + 1_000 * changeEverySeconds * number;
    return {
      ...this.#experiment,
      id: String(1_000 + number),
      name: `sweep ${number}`,
      createdAtMs,
    };
  }
}

type FrameCase = NonNullable<Frame["frame"]["case"]>;
type FrameValue<Case extends FrameCase> = Extract<Frame["frame"], { case: Case }>["value"];

function frameOf<Case extends FrameCase>(name: Case, value: FrameValue<Case>): Frame {
  return { frame: { case: name, value } } as Frame; // The name chose the type of the value.
}

type Document = FrameValue<"change">["document"];

function changeOf(topic: string, document: Extract<Document, { value: { id: string } }>): Frame {
  return frameOf("change", { topic, id: document.value.id, document });
}
