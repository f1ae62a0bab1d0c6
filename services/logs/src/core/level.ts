/**
 * Reads the severity of a line from its text. Only its beginning counts, without the launcher's prefix and terminal
 * colours. The first matching rule decides:
 *
 * 1. `Traceback (most recent call last):`, or a line that begins with the name of an exception (`ValueError: …`):
 * error.
 * 2. `"level": "warn"` of a JSON object, `level=warn` of key-value pairs; also `levelname`, `severity` and `lvl`.
 * 3. The first word in capitals that names a level, within 64 characters: `2026-11-22 10:00:00 WARNING …`, `[INFO] …`.
 * 4. glog's and absl's letter before the date: `E1122 10:00:00 …`.
 * 5. `UserWarning: …` and other names that end in `Warning: `, anywhere in the beginning: warning.
 *
 * A line that continues another line is judged by its own text.
 */
import { LogLevel } from "@trainyard/contracts/commands";

/** Text after 200 characters is message, not prefix: a line of 64 KiB takes no longer than a short one. */
const beginningCharacters = 200;
const wordWithinCharacters = 64;

const names: ReadonlyMap<string, LogLevel> = new Map([
  ["trace", LogLevel.TRACE],
  ["debug", LogLevel.DEBUG],
  ["info", LogLevel.INFO],
  ["notice", LogLevel.INFO],
  ["warn", LogLevel.WARNING],
  ["warning", LogLevel.WARNING],
  ["error", LogLevel.ERROR],
  ["critical", LogLevel.CRITICAL],
  ["fatal", LogLevel.CRITICAL],
  ["panic", LogLevel.CRITICAL],
]);
const letters: ReadonlyMap<string, LogLevel> = new Map([
  ["I", LogLevel.INFO],
  ["W", LogLevel.WARNING],
  ["E", LogLevel.ERROR],
  ["F", LogLevel.CRITICAL],
]);

const rankPrefix = /^\[rank=[0-9]{1,9}\] /;
// oxlint-disable-next-line no-control-regex -- terminal colours begin with the escape character
const colours = /\u001b\[[0-9;]{0,16}m/g;
const exception = /^(?:Traceback \(most recent call last\):|[\w.]*(?:Error|Exception)(?::|$))/;
const field = /["']?\b(?:level|levelname|severity|lvl)["']?\s?[:=]\s?["']?([A-Za-z]+)/;
const word =
  /(?<![A-Za-z])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|PANIC)(?![A-Za-z])/;
const dated = /^([IWEF])[0-9]{4} [0-9]{2}:[0-9]{2}/;

export function levelOf(text: string): LogLevel {
  const plain = text.slice(0, beginningCharacters).replace(rankPrefix, "");
  const beginning = plain.includes("\u001b") ? plain.replace(colours, "") : plain;
  if (exception.test(beginning)) return LogLevel.ERROR;
  const named = levelNamed(field.exec(beginning)?.[1]);
  if (named !== undefined) return named;
  const written = levelNamed(word.exec(beginning.slice(0, wordWithinCharacters))?.[1]);
  if (written !== undefined) return written;
  const letter = letters.get(dated.exec(beginning)?.[1] ?? "");
  if (letter !== undefined) return letter;
  return beginning.includes("Warning: ") ? LogLevel.WARNING : LogLevel.UNSPECIFIED;
}

function levelNamed(name: string | undefined): LogLevel | undefined {
  return name === undefined ? undefined : names.get(name.toLowerCase());
}
