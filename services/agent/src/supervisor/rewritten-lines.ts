/**
 * Keeps the last state of a line that is rewritten, as by a progress bar. rewritten_lines.py implements the same for
 * runs that are processes of the host.
 *
 * A state is a text that ends at a lone \r, or at a newline after the code that moves the cursor up again (bars below
 * bars). The next state replaces it, and so does a line with the same label: the text before the first digit. A blank
 * state wipes it, as `tqdm.write` does. Before any other line, and at the end of the output, the last state is stored.
 * While a line is rewritten, its latest state is stored every ten seconds, so that the log shows where it is. Lines
 * that end at \n or \r\n are stored, every one.
 */
import type { Line } from "./line-splitter.ts";

/** The interval between stored states: a bar of an hour is at most 360 lines. */
export const stateGapMs = 10_000;

const rankPrefix = /^\[rank=[0-9]{1,9}\] /;
// oxlint-disable-next-line no-control-regex -- terminal codes begin with the escape character
const codes = /\u001b\[[0-9;]{0,16}[A-Za-z]/g;
// oxlint-disable-next-line no-control-regex -- terminal codes begin with the escape character
const upCode = /\u001b\[[0-9]{0,4}A$/;

export class RewrittenLines {
  /** The latest state that is not stored. */
  #held: Line | null = null;
  /** The time of the last stored state, or at which the line began. */
  #sinceMs: number | null = null;
  #isInLongLine = false;

  /** Returns the lines to store. */
  push(lines: readonly Line[], nowMs: number): readonly Line[] {
    const stored: Line[] = [];
    for (const line of lines) {
      const isState = (line.rewritten || movesUp(line.text)) && !this.#isInLongLine;
      this.#isInLongLine = line.continued;
      if (isState && !line.continued) {
        this.#held = isBlank(line.text) ? null : line;
        this.#sinceMs ??= nowMs;
        stored.push(...this.due(nowMs));
      } else {
        stored.push(...this.#endBefore(line), line);
      }
    }
    return stored;
  }

  /** Returns the latest state if it is time to store it. */
  due(nowMs: number): readonly Line[] {
    if (this.#held === null || nowMs - (this.#sinceMs ?? nowMs) < stateGapMs) return [];
    this.#sinceMs = nowMs;
    return this.#take();
  }

  /** Returns the last state, if it is not stored. */
  end(): readonly Line[] {
    return this.#take();
  }

  #endBefore(line: Line): readonly Line[] {
    if (this.#held === null) return [];
    this.#sinceMs = null;
    const isReplaced = !isBlank(line.text) && labelOf(line.text) === labelOf(this.#held.text);
    const held = this.#take();
    return isReplaced ? [] : held;
  }

  #take(): readonly Line[] {
    const held = this.#held;
    this.#held = null;
    return held === null ? [] : [held];
  }
}

const movesUp = (text: string): boolean => text.endsWith("A") && upCode.test(text.slice(-7));
const shownOf = (text: string): string => text.replace(rankPrefix, "").replace(codes, "").trim();
const isBlank = (text: string): boolean => shownOf(text) === "";
const labelOf = (text: string): string => (shownOf(text).split(/[0-9]/, 1)[0] ?? "").trim();
