/**
 * Executes a program in a task: its input, its output, its error output and its exit code are those of this process.
 */
import { once } from "node:events";
import { type Clock, isFault } from "@trainyard/kernel";
import {
  type ByteStream,
  type Ended,
  type FromHolder,
  type Hello,
  messagesOf,
  toHolder,
} from "@trainyard/terminal";
import type { Output } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { dialHolder, failureOf } from "./holder-stream.ts";
import { LocalTerminal } from "./local-terminal.ts";

export type Program = {
  readonly task: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Empty for the task's folder. */
  readonly directory: string;
  readonly clock: Clock;
  readonly output: Output;
};

/** Returns how the program has ended. Throws a Failure if it was not started, or if the connection broke. */
export async function execute(program: Program): Promise<Ended> {
  const leave = new AbortController();
  const stream = await dialed(program, leave.signal);
  const interrupt = interrupts(stream);
  process.on("SIGINT", interrupt);
  try {
    await stream.write(toHolder.hello(helloOf(program, {})));
    void passInput(stream);
    return await follow(stream, async (message) => {
      if (message.type === "output") await written(process.stdout, message.bytes);
      else if (message.type === "error_output") await written(process.stderr, message.bytes);
      else if (message.type === "notice") program.output.note(message.text);
    });
  } finally {
    process.off("SIGINT", interrupt);
    process.stdin.destroy();
    stream.close();
  }
}

/** The same in a terminal of its own. Returns null if the person left it, which ends the program. */
export async function executeInTerminal(program: Program): Promise<Ended | null> {
  const leave = new AbortController();
  const stream = await dialed(program, leave.signal);
  leave.signal.addEventListener("abort", () => stream.close());
  try {
    using local = new LocalTerminal({
      typed: (bytes) => toHolder.input(bytes).forEach((frame) => void stream.write(frame)),
      resized: () => void stream.write(toHolder.size(local.size)),
      left: () => leave.abort(),
    });
    await stream.write(toHolder.hello(helloOf(program, { terminal: true, ...local.size })));
    return await follow(stream, async (message) => {
      if (message.type === "output") await local.write(message.bytes);
      else if (message.type === "notice") program.output.note(`\r\n[${message.text}]\r`);
    });
  } catch (error) {
    if (leave.signal.aborted) return null;
    throw error;
  } finally {
    stream.close();
  }
}

function helloOf({ command, environment, directory }: Program, terminal: object): Hello {
  const where = directory === "" ? {} : { directory };
  return { open: "exec", command, environment, ...where, ...terminal };
}

async function dialed({ task, clock }: Program, signal: AbortSignal): Promise<ByteStream> {
  return failing(() => dialHolder({ task, clock, signal }));
}

async function follow(
  stream: ByteStream,
  handle: (message: FromHolder) => Promise<void>,
): Promise<Ended> {
  return failing(async () => {
    let ended: Ended = {};
    for await (const message of messagesOf(stream)) {
      if (message.type === "ended") ended = message;
      else await handle(message);
    }
    return ended;
  });
}

async function failing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isFault(error)) throw error;
    const isLost = error.code === "link_lost" || error.code === "link_silent";
    throw isLost ? new Failure("The connection broke: the program gets SIGHUP.") : failureOf(error);
  }
}

/** The first Ctrl-C interrupts the program, and the second one leaves it, which ends it by SIGHUP. */
function interrupts(stream: ByteStream): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count === 1) void stream.write(toHolder.signal("INT"));
    else stream.close();
  };
}

async function passInput(stream: ByteStream): Promise<void> {
  try {
    for await (const chunk of process.stdin) {
      for (const frame of toHolder.input(chunk as Buffer)) await stream.write(frame);
    }
  } catch {
    // An input that cannot be read has ended.
  }
  await stream.write(toHolder.endOfInput());
}

/** Standard streams that are pipes take each write at once; others say when they take more. */
async function written(target: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  if (!target.write(bytes)) await once(target, "drain");
}
