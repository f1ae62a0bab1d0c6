/** The lines of a log that say why a process failed: pure. */
import { withoutRedraws } from "../log-view/progress-bars.ts";
import type { LogLine } from "../log-view/source.ts";

/** Lines that are shown of a log without a traceback. */
const lastShown = 12;
/** Lines of a traceback and what follows it; of a longer one the last ones are shown, which name the error. */
const tracebackShown = 40;
/** Lines before a traceback: what the process did last. */
const beforeTraceback = 2;

const traceback = /^Traceback \(most recent call last\)/;
/** An error may have several tracebacks, each for the error that occurred while another one was handled. */
const chained =
  /^(During handling of the above exception|The above exception was the direct cause)/;

/** Returns the last lines, from the beginning of the traceback if they have one. */
export function failureLines(lines: readonly LogLine[]): readonly LogLine[] {
  const shown = withoutRedraws(lines, () => false).map(({ line }) => line);
  const from = tracebackStart(shown);
  if (from === null) return shown.slice(-lastShown);
  return shown.slice(Math.max(0, from - beforeTraceback)).slice(-tracebackShown);
}

function tracebackStart(lines: readonly LogLine[]): number | null {
  let from: number | null = null;
  let linked = false;
  for (const [at, line] of lines.entries()) {
    const text = bare(line);
    if (chained.test(text)) linked = true;
    if (!traceback.test(text)) continue;
    from = linked && from !== null ? from : at;
    linked = false;
  }
  return from;
}

/** Returns the text without the prefix that a launcher gives the lines of its ranks. */
const bare = ({ text }: LogLine): string => text.replace(/^\[rank=\d+\] /, "");
