/** Example events that this service reads or writes. */
import type { EventOf } from "@trainyard/contracts";

export function requested(run: number, fromStep: number): EventOf<"RunRequested"> {
  return {
    type: "RunRequested",
    data: {
      run,
      fromCheckpoint: "",
      fromStep,
      preemptible: true,
      experiment: "12",
      delayMs: 0,
      workspace: "",
      owner: "",
    },
  };
}

export function reported(
  run: number,
  step: number,
  scalars: Readonly<Record<string, number>> = { loss: 1 },
  reportKey = `0-${step}`,
): EventOf<"ValidationReported"> {
  const data = { trial: "12.3", run, step, scalars, reportKey, nonNumeric: [] };
  return { type: "ValidationReported", data };
}

export function superseded(run: number, afterStep: number): EventOf<"MeasurementsSuperseded"> {
  return { type: "MeasurementsSuperseded", data: { run, afterStep } };
}
