/** Asks the holder of a task how long ago its terminals and executed programs were used. */
import { FrameDecoder, fromHolder, toHolder } from "@trainyard/terminal";
import { limits } from "../limits.ts";
import { connectHolder } from "../state/run-socket.ts";

/** Returns null if they were never used. Throws if the holder does not answer, or the signal aborts first. */
export async function askHolder(runDir: string, signal: AbortSignal): Promise<number | null> {
  const socket = await connectHolder(runDir);
  const stop = (): void => void socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    socket.write(toHolder.hello({ open: "use" }));
    const decoder = new FrameDecoder();
    let left = limits.serverAnswerBytesMax;
    for await (const chunk of socket) {
      // The run's own program may serve the socket, and write forever.
      left -= (chunk as Buffer).length;
      if (left < 0) throw new Error("the holder's answer is too large");
      for (const frame of decoder.push(chunk as Buffer)) {
        const message = fromHolder(frame);
        if (message?.type !== "use") continue;
        const { idle_seconds: seconds } = message;
        if (seconds === null || seconds >= 0) return seconds === null ? null : seconds * 1_000;
      }
    }
    throw new Error("the holder did not say how the task is used");
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}
