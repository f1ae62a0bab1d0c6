import { type Client, isAway } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Experiment, TrialLogLine } from "@trainyard/contracts/api";
import { TrialLogLineSchema } from "@trainyard/contracts/api";
import { firstLine, type Output } from "./output.ts";
import { Failure } from "./usage-error.ts";

const over: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "ERROR"]);

export function isOver(experiment: Plain<Experiment>): boolean {
  return over.has(experiment.state);
}

/** Returns a signal that Ctrl-C aborts: it ends this command only. */
export function detachSignal(output: Output, still = "the trials continue"): AbortSignal {
  const detached = new AbortController();
  process.once("SIGINT", () => {
    output.note(`detached; ${still}`);
    detached.abort();
  });
  return detached.signal;
}

export function printLogLine(output: Output, line: Plain<TrialLogLine>, withTrial: boolean): void {
  output.line(logLineText(output, line, withTrial));
}

export function logLineText(output: Output, line: Plain<TrialLogLine>, withTrial: boolean): string {
  if (output.json) return output.jsonText(TrialLogLineSchema, line);
  return withTrial ? `[${line.trial}] ${line.text}` : line.text;
}

type Watcher = {
  readonly onChange?: (experiment: Plain<Experiment>) => void;
  /** Receives why there is no first answer yet: the address may be wrong, and the wait for one is long. */
  readonly onAway?: (why: string) => void;
};

/** Waits until an experiment has ended. Returns null if Ctrl-C detached the command. */
export async function waitForEnd(
  client: Client,
  experiment: string,
  signal: AbortSignal,
  { onChange = () => {}, onAway = () => {} }: Watcher = {},
): Promise<Plain<Experiment> | null> {
  const patient = { signal, outlast: true };
  const begin = { experiment, pageSize: 1 };
  try {
    // The read is at least at this position, where the watch begins, so no change is missed.
    const { position } = await client
      .call("listTrials", begin, { signal })
      .catch((error: unknown) => {
        if (signal.aborted || !isAway(error)) throw error;
        onAway(error instanceof Error ? error.message : String(error));
        return client.call("listTrials", begin, patient);
      });
    let current = await client.call(
      "getExperiment",
      { experiment, minPosition: position },
      patient,
    );
    onChange(current);
    if (isOver(current)) return current;
    const events = client.stream("watchEvents", { experiment, after: position }, patient);
    for await (const { message } of events) {
      if (!/\.(ExperimentEnded|TrialEnded|TrialCreated|ValidationReported)\./.test(message.type))
        continue;
      current = await client.call(
        "getExperiment",
        { experiment, minPosition: message.sequence },
        patient,
      );
      onChange(current);
      if (isOver(current)) return current;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return null;
}

/** Throws a Failure, for exit code 1, if the experiment did not complete. */
export function requireCompleted(experiment: Plain<Experiment> | null): void {
  if (experiment === null || experiment.state === "COMPLETED") return;
  const reason = experiment.reason === "" ? "" : `: ${firstLine(experiment.reason)}`;
  throw new Failure(`Experiment ${experiment.id} ended ${experiment.state}${reason}.`);
}
