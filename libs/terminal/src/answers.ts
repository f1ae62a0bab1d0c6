/**
 * Terminals answer queries in a program's output, such as one for the place of the cursor, as if somebody typed the
 * answer. A viewer who comes later reads output again whose queries were answered before, and its terminal's answers
 * would be typed into whatever reads now.
 */
import type { Clock } from "@trainyard/kernel";
import { repeatedAnswersMs } from "./limits.ts";

/**
 * Device attributes, status, the cursor's place, modes and the window's size; colours; settings. Not what keys send.
 */
const answers =
  // oxlint-disable-next-line no-control-regex -- the sequences begin with the escape character
  /\x1b\[[?>=]?[\d;]*\$?[cnRtuy]|\x1b\][\d;]+[^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\/g;

export class RepeatedAnswers {
  readonly #clock: Clock;
  #untilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called with each screen that is written to the terminal. The empty one of a new terminal repeats nothing. */
  screenShown(screen: Uint8Array): void {
    if (screen.length > 0) this.#untilMs = this.#clock.monotonicMs() + repeatedAnswersMs;
  }

  /** Returns what the terminal sends without such answers. */
  without(sent: string): string {
    return this.#clock.monotonicMs() < this.#untilMs ? sent.replaceAll(answers, "") : sent;
  }
}
