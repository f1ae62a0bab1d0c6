/** Ends all of a run, and gives back what holds it. */
import { type Clock, pause } from "@trainyard/kernel";
import { describeSurvivors } from "../core/surviving-processes.ts";
import type { RunGroup } from "../state/run-group.ts";

/** Between two kills of what is slow to die. */
const killAgainMs = 500;
/** A process that is not gone this long after its kill is worth a line: the kernel holds it. */
const tellLeftMs = 10_000;
/** One look at /proc may miss what forks in that moment; so many in a row do not. */
const looksToBeSure = 3;
const removeAgainMs = 500;

/**
 * Ends all processes and returns when none lives: a process that cannot be killed still has its memory and its devices,
 * and nobody else may get them. Then its container is removed, which is tried for at least `removeMs`; each attempt
 * follows another look for living processes, since an engine may start a container late. The result says what remains;
 * empty for nothing.
 */
export async function endAll(
  group: RunGroup,
  say: (text: string) => void,
  clock: Clock,
  removeMs: number,
): Promise<string> {
  await untilNoneLives(group, say, clock);
  for (const untilMs = clock.monotonicMs() + removeMs; ; ) {
    const remains = await group.remove();
    if (remains === "" || clock.monotonicMs() >= untilMs) return remains;
    await pause(clock, removeAgainMs);
    await untilNoneLives(group, say, clock);
  }
}

async function untilNoneLives(
  group: RunGroup,
  say: (text: string) => void,
  clock: Clock,
): Promise<void> {
  const fromMs = clock.monotonicMs();
  let told = "";
  let empty = 0;
  const looks = group.mechanism === "scan" ? looksToBeSure : 1;
  for (let pauseMs = 1; empty < looks; pauseMs = Math.min(pauseMs * 2, killAgainMs)) {
    empty = group.signal("SIGKILL") ? 0 : empty + 1;
    if (empty > 0) pauseMs = 1;
    const isLate = empty === 0 && clock.monotonicMs() - fromMs >= tellLeftMs;
    const text = isLate ? describeSurvivors(group.members()) : "";
    if (text !== "" && text !== told) {
      say(text);
      told = text;
    }
    await pause(clock, pauseMs);
  }
}
