import { type EventLog, isFullPage } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import { WorkerCall } from "@trainyard/runtime";
import { apiLimits } from "../limits.ts";
import type {
  AnalysisAnswer,
  AnalysisName,
  AnalysisOf,
  AnalysisQuestion,
} from "./search-analyses.ts";

/** Analyses searches in a worker thread, which gets the events that it does not know yet from the log. */
export class AnalysisThread implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #thread = new WorkerCall<AnalysisQuestion, AnalysisAnswer>(
    new URL("./analysis-worker.ts", import.meta.url),
    "analyses searches",
  );
  #before: Promise<unknown> = Promise.resolve();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Returns an analysis of the search at the log's head. One search is read at a time, so that two large ones do not
   * displace each other while they are read.
   */
  of<Name extends AnalysisName>(experiment: string, name: Name): Promise<AnalysisOf<Name>> {
    const analysis = this.#before.then(() => this.#read(experiment, name));
    this.#before = analysis.catch(() => {});
    return analysis;
  }

  async #read<Name extends AnalysisName>(
    experiment: string,
    name: Name,
  ): Promise<AnalysisOf<Name>> {
    const stream = streamName("search", experiment);
    const first: AnalysisQuestion = { experiment, after: null, events: [], name: null };
    let { version } = await this.#thread.ask(first);
    for (;;) {
      const page = await this.#log.read(stream, version, apiLimits.searchEventsPage);
      const events = page.map(({ type, body, timeMs }) => ({ type, body, timeMs }));
      const isLast = !isFullPage(page, apiLimits.searchEventsPage);
      const asked = { experiment, after: version, events, name: isLast ? name : null };
      const answer = await this.#thread.ask(asked);
      // The thread answers with the analysis that it was asked for.
      if (answer.analysis !== null) return answer.analysis as AnalysisOf<Name>;
      ({ version } = answer);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
