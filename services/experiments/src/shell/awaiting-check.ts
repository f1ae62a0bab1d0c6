import { isDeepStrictEqual } from "node:util";
import { shortNameOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { type Check, type Logger, runtimeLimits, shownBeside } from "@trainyard/runtime";
import { AwaitingTrials, nothing, type Saved, savedAwaiting } from "./awaiting.ts";

/** Compares the saved waits with a fold of the log from the beginning to the same position. */
export function awaitingCheck(log: EventLog, logger: Logger): Check {
  return {
    name: "experiments.awaiting-trials",
    run: async () => {
      const saved = await savedAwaiting({ log, logger });
      if (saved === null) return { position: await log.head(), finding: "" };
      const rebuilt = new AwaitingTrials(nothing);
      await rebuilt.readTo(log, saved.position);
      // The leader drops the wait of a trial that has ended, once its time is reached.
      for (const trial of rebuilt.all.keys()) {
        if (!(trial in saved.untilMs) && (await hasEnded(log, trial))) rebuilt.drop(trial);
      }
      const [is, becomes] = [timesOf(saved), timesOf(rebuilt.saved)];
      if (isDeepStrictEqual(is, becomes)) return { position: saved.position, finding: "" };
      const [one, other] = shownBeside(JSON.stringify(is), JSON.stringify(becomes));
      return { position: saved.position, finding: `it is ${one}, but a rebuild has ${other}` };
    },
  };
}

async function hasEnded(log: EventLog, trial: string): Promise<boolean> {
  let version = 0;
  for (;;) {
    const page = await log.read(`trial-${trial}`, version, runtimeLimits.pageEvents);
    if (page.some(({ type }) => shortNameOf(type) === "TrialEnded")) return true;
    if (page.length === 0) return false;
    version += page.length;
  }
}

function timesOf({ position, untilMs }: Saved): Omit<Saved, "event"> {
  return { position, untilMs };
}
