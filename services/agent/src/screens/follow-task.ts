/** Follows the terminals of one task: connects to its holder, again after each loss, and answers with their screens. */
import type { Socket } from "node:net";
import { Backoff, type Clock } from "@trainyard/kernel";
import {
  columnsMax,
  FrameDecoder,
  type FromHolder,
  fromHolder,
  type Hello,
  rowsMax,
  toHolder,
} from "@trainyard/terminal";
import { limits } from "../limits.ts";
import { connectHolder } from "../state/run-socket.ts";
import { FollowedScreen, type Snapshot } from "./followed-screen.ts";
import type { ScreenPlace, ScreenPlaces } from "./screen-places.ts";

/** Resolves when the signal aborts. */
export async function followTask(
  runDir: string,
  places: ScreenPlaces,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  /** The terminals that exist, and those that are followed. */
  let names: readonly string[] = [];
  const followed = new Set<string>();
  const follow = async (name: string): Promise<void> => {
    followed.add(name);
    const waits = new Backoff(limits.holderRetry, clock, signal);
    const isWanted = (): boolean => !signal.aborted && names.includes(name);
    for (let isNew = true; isWanted(); isNew = false) {
      using place = isNew ? places.take() : await places.takeFree(isWanted);
      if (place === null) break;
      try {
        await followTerminal(runDir, name, place, AbortSignal.any([signal, place.signal]));
        // The terminal has ended, and a new one may have its name.
        waits.reset();
      } catch {
        // The connection was lost, or the emulator failed: it tries again from the last screen.
      }
      await waits.wait();
    }
    followed.delete(name);
  };
  const backoff = new Backoff(limits.holderRetry, clock, signal);
  while (!signal.aborted) {
    try {
      await withHolder(runDir, { open: "watch" }, signal, (message) => {
        backoff.reset();
        if (message.type !== "terminals") return;
        // The run's own program may serve the socket, and each terminal costs the agent a connection.
        names = [...message.names].slice(0, limits.screensOfTaskMax);
        places.look();
        for (const name of names) {
          if (!followed.has(name) && followed.size < limits.screensOfTaskMax) void follow(name);
        }
      });
    } catch {
      // The holder is not up yet, or is gone: then the run ends.
    }
    names = [];
    places.look();
    await backoff.wait();
  }
}

/** Resolves when the terminal has ended, or with the connection. */
async function followTerminal(
  runDir: string,
  name: string,
  place: ScreenPlace,
  signal: AbortSignal,
): Promise<void> {
  using stack = new DisposableStack();
  let screen: FollowedScreen | null = null;
  /** Set while nothing is written to the screen. */
  let quiet: NodeJS.Timeout | undefined;
  stack.defer(() => clearTimeout(quiet));
  await withHolder(runDir, { open: "follow", name }, signal, (message, socket) => {
    clearTimeout(quiet);
    const send = (snapshot: Snapshot | null): void => {
      if (snapshot === null || socket.destroyed) return;
      socket.write(toHolder.screen(snapshot.at, snapshot.bytes));
    };
    if (message.type === "size") {
      if (message.columns > columnsMax || message.rows > rowsMax)
        throw new Error("a terminal is too large");
      screen ??= stack.use(new FollowedScreen(message));
      screen.resize(message);
    } else if (message.type === "screen") {
      screen?.replace(message.bytes);
    } else if (message.type === "output") {
      place.used();
      send(screen?.write(message.bytes) ?? null);
    }
    quiet = setTimeout(() => {
      if ((screen?.unseenBytes ?? 0) >= limits.screenQuietBytes) send(screen?.snapshot() ?? null);
    }, limits.screenQuietMs);
  });
}

/** Calls `hear` for each message. The thread reads no faster than it hears. Rejects if the holder cannot be reached. */
async function withHolder(
  runDir: string,
  hello: Hello,
  signal: AbortSignal,
  hear: (message: FromHolder, socket: Socket) => void,
): Promise<void> {
  const socket = await connectHolder(runDir);
  const stop = (): void => void socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) return;
    socket.write(toHolder.hello(hello));
    const decoder = new FrameDecoder();
    for await (const chunk of socket) {
      for (const frame of decoder.push(chunk as Buffer)) {
        const message = fromHolder(frame);
        if (message !== null) hear(message, socket);
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}
