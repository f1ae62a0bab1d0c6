/** Shows a terminal of a task in the local terminal, until it has ended or the person leaves it. */
import { constants } from "node:os";
import { type Clock, isFault } from "@trainyard/kernel";
import {
  type Ended,
  type FromHolder,
  RepeatedAnswers,
  TerminalLink,
  toHolder,
} from "@trainyard/terminal";
import { cliLimits } from "../limits.ts";
import type { Output } from "../output.ts";
import { dialHolder, failureOf } from "./holder-stream.ts";
import { LocalTerminal } from "./local-terminal.ts";

export type Attached = {
  readonly task: string;
  /** The name of the terminal. */
  readonly terminal: string;
  readonly clock: Clock;
  readonly output: Output;
};

/**
 * Returns how the terminal has ended; null if the person left it. Throws a Failure if it cannot be reached for good.
 */
export async function attach({ task, terminal, clock, output }: Attached): Promise<Ended | null> {
  const leave = new AbortController();
  const answers = new RepeatedAnswers(clock);
  using local = new LocalTerminal({
    typed(bytes) {
      const kept = Buffer.from(answers.without(Buffer.from(bytes).toString("latin1")), "latin1");
      for (const frame of toHolder.input(kept)) link.write(frame);
    },
    resized: () => void link.write(toHolder.size(local.size)),
    left: () => leave.abort(),
  });
  // Raw terminals begin a line in the column of the last one.
  const note = (text: string): void => output.note(`\r\n${text}\r`);
  let isLost = false;
  const link = new TerminalLink(
    {
      dial: (signal) => dialHolder({ task, clock, signal, deadLooks: cliLimits.terminalDeadLooks }),
      hello: () => ({ open: "terminal", name: terminal, ...local.size }),
      message: (message) => shown(message, { local, answers, note }),
      connected() {
        isLost = false;
      },
      lost(reason) {
        if (!isLost) note(`[not connected, trying again; ~. leaves: ${reason}]`);
        isLost = true;
      },
    },
    clock,
  );
  try {
    return await link.run(leave.signal);
  } catch (error) {
    throw isFault(error) ? failureOf(error) : error;
  }
}

type Shown = {
  readonly local: LocalTerminal;
  readonly answers: RepeatedAnswers;
  readonly note: (text: string) => void;
};

async function shown(message: FromHolder, { local, answers, note }: Shown): Promise<void> {
  if (message.type === "output") await local.write(message.bytes);
  else if (message.type === "notice") note(`[${message.text}]`);
  else if (message.type === "screen") {
    answers.screenShown(message.bytes);
    await local.show(message.bytes);
  }
}

/** Returns the exit code of a program; of one that a signal ended 128 and the number of the signal, as a shell does. */
export function exitCodeOf({ code, signal }: Ended): number {
  if (code !== undefined) return code;
  const number = constants.signals[signal as NodeJS.Signals] ?? 0;
  return 128 + number;
}

export function endedText({ code, signal }: Ended): string {
  return signal === undefined ? `with code ${code ?? 0}` : `by ${signal}`;
}
