import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { noTracer, type Span, type Tracer } from "@trainyard/runtime";

/** The span from the begin of a launch until the run's process is up. An agent that adopts a run has none. */
export class LaunchSpan {
  readonly #launch: Plain<Launch>;
  readonly #tracer: Tracer;
  #span: Span;

  constructor(launch: Plain<Launch>, tracer: Tracer) {
    this.#launch = launch;
    this.#tracer = tracer;
    this.#span = noTracer.under("launch", launch.traceparent);
  }

  begin(): void {
    const { allocation, traceparent } = this.#launch;
    const attributes = { "trainyard.allocation": allocation };
    this.#span = this.#tracer.under("launch", traceparent, { kind: "consumer", attributes });
  }

  /** Begins the span of the run's first line. */
  firstLine(): Span {
    const attributes = { "trainyard.allocation": this.#launch.allocation };
    return this.#tracer.under("first line", this.#span.traceparent, { attributes });
  }

  end(outcome?: { readonly error: unknown }): void {
    this.#span.end(outcome);
  }
}
