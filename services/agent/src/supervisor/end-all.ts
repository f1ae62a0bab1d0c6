/** Ends all processes of a run in a container, and removes the container. */
import { type Clock, pause } from "@trainyard/kernel";
import { describeSurvivors } from "../core/surviving-processes.ts";
import type { RunGroup } from "../state/run-group.ts";

/** The interval between two kills of a process that is slow to die. */
const killAgainMs = 500;
/** A process that lives this long after its kill is logged: the kernel holds it. */
const tellLeftMs = 10_000;
const removeAgainMs = 500;

/**
 * Ends all processes and returns when none lives: a process that cannot be killed still has its memory and its devices,
 * which no other run may get. Then its container is removed, with retries for at least `removeMs`; each attempt follows
 * another check for living processes, since an engine may start a container late. Returns a sentence about what could
 * not be removed; empty for nothing.
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
  for (let pauseMs = 1; group.signal("SIGKILL"); pauseMs = Math.min(pauseMs * 2, killAgainMs)) {
    const isLate = clock.monotonicMs() - fromMs >= tellLeftMs;
    const text = isLate ? describeSurvivors(group.members()) : "";
    if (text !== "" && text !== told) {
      say(text);
      told = text;
    }
    await pause(clock, pauseMs);
  }
}
