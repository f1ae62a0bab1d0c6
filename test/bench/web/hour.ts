/**
 * Replays the Watch frames of an hour of a busy cluster: reports of running trials, and experiments that are created,
 * run and end.
 */
import type { ReplyOf } from "@trainyard/contracts";
import { draw } from "@trainyard/kernel";
import type { Replay, ReplayStream } from "./relay.ts";

const reportsPerSecond = 2;
/** The interval at which an experiment is created and the one before it ends. */
const changeEverySeconds = 5;
const idleMs = 500;
const startMs = 1_700_000_000_000;

export type Frame = ReplyOf<"watch">;
type Topic = { readonly kind: string; readonly id?: string };
type Experiment = ReplyOf<"getExperiment">;
type Trial = ReplyOf<"listTrials">["items"][number];
type Request = { readonly topics: readonly Topic[]; readonly after?: string };
type Named = Topic & { readonly name: string };

export class Hour implements Replay<"watch"> {
  readonly call = "watch";
  readonly path = "/api/v1/watch";
  readonly #experiment: Experiment;
  readonly #trials: readonly Trial[];
  #stream: ReplayStream<Frame> | null = null;
  #topics: readonly Named[] = [];
  /** The next second to send, and the second at which the replay pauses. */
  #second = 0;
  #until = 0;
  frames = 0;
  /** The number of bookmarks sent: messages with only a cursor, in place of frames. */
  bookmarks = 0;

  /** The documents are the cluster's; the frames contain changed copies of them. */
  constructor(experiment: Experiment, trials: readonly Trial[]) {
    this.#experiment = experiment;
    this.#trials = trials;
  }

  /** A reopened stream starts at its cursor, and its reader knows from the positions which points it has. */
  readonly run = async (body: string, stream: ReplayStream<Frame>): Promise<void> => {
    const { topics, after = "" } = JSON.parse(body) as Request;
    this.#topics = topics.map((topic, index) => ({ ...topic, name: `t${index}` }));
    this.#stream = stream;
    if (after !== "") this.#second = Math.min(this.#second, Number(after));
    const names = this.#topics.map(({ name }) => name);
    await stream.send({ id: "", message: frameOf("opened", { topics: names }) });
    while (!stream.signal.aborted && this.#stream === stream) {
      if (this.#second < this.#until) {
        this.#second += 1;
        await this.#send(stream, this.#framesOf(this.#second - 1));
      } else {
        // A stream without a frame for a long time would be considered lost.
        await this.#send(stream, []);
        this.bookmarks += 1;
        await new Promise((resolve) => setTimeout(resolve, idleMs));
      }
    }
  };

  /** The number of reports of each trial so far. */
  get reports(): number {
    return this.#until * reportsPerSecond;
  }

  /** Whether the open stream follows a topic of this kind. */
  follows(kind: string): boolean {
    return this.#topics.some((topic) => topic.kind === kind);
  }

  /** Sends the frames of the next seconds, each as soon as the browser accepts it. */
  replay(seconds: number): void {
    this.#until += seconds;
  }

  #of(kind: string): readonly Named[] {
    return this.#topics.filter((topic) => topic.kind === kind);
  }

  async #send(stream: ReplayStream<Frame>, frames: readonly Frame[]): Promise<void> {
    this.frames += frames.length;
    const cursor = String(this.#second);
    await stream.send(...frames.map((message) => ({ id: "", message })), {
      id: cursor,
      message: frameOf("bookmark", { cursor }),
    });
  }

  #framesOf(second: number): readonly Frame[] {
    const isChange = second % changeEverySeconds === 0;
    return [...this.#pointsOf(second), ...(isChange ? this.#changesAt(second) : [])];
  }

  #pointsOf(second: number): readonly Frame[] {
    const reports = Array.from(
      { length: reportsPerSecond },
      (_, index) => 1 + second * reportsPerSecond + index,
    );
    const items = reports.flatMap((report) =>
      this.#trials.map((trial, at) => ({
        // Positions start at 1, so that the page misses no earlier one.
        position: String(1 + (report - 1) * this.#trials.length + at),
        point: {
          trial: trial.id,
          run: 1,
          group: "training",
          stepsCompleted: 10 + report,
          reportedAtMs: startMs + (1_000 * report) / reportsPerSecond,
          metrics: { loss: 1 / Math.sqrt(report) + 0.1 * draw(62, trial.id, report) },
          superseded: false,
          others: {},
          key: `r${report}`,
        },
      })),
    );
    return this.#of("points").map(({ name }) => frameOf("points", { topic: name, items }));
  }

  /** Returns the changed experiment and trials, a new running experiment, and the end of the one before it. */
  #changesAt(second: number): readonly Frame[] {
    const progress = (second % 1_000) / 1_000;
    const number = second / changeEverySeconds;
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
