import type { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Experiment, TrialLogLine } from "@trainyard/contracts/api";
import { TrialLogLineSchema } from "@trainyard/contracts/api";
import { firstLine, type Output } from "./output.ts";
import { Failure } from "./usage-error.ts";

const over: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "ERROR"]);

export function isOver(experiment: Plain<Experiment>): boolean {
  return over.has(experiment.state);
}

/** Returns a signal that Ctrl-C aborts: it ends the command, and the experiment continues. */
export function detachSignal(output: Output): AbortSignal {
  const detached = new AbortController();
  process.once("SIGINT", () => {
    output.note("detached; the trials continue");
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

/** Waits until an experiment has ended. Returns null if Ctrl-C detached the command. */
export async function waitForEnd(
  client: Client,
  experiment: string,
  signal: AbortSignal,
  onChange: (experiment: Plain<Experiment>) => void = () => {},
): Promise<Plain<Experiment> | null> {
  // After the first answer, an unavailable server is retried.
  const patient = { signal, outlast: true };
  // The read is at least at this position, where the watch begins, so no change is missed.
  const { position } = await client.call("listTrials", { experiment, pageSize: 1 });
  try {
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
