/**
 * The log of a container as `kubectl logs` reads it, from the file that Podman's conmon writes: a line has its time,
 * its stream and F, or P for a part of a line that is longer than a buffer. Source: docs, "Logging Architecture"; API
 * reference, "Pod" (read log).
 */
import { existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as after } from "node:timers/promises";

export type LogOptions = {
  readonly follow?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
};

type Line = { readonly at: string; readonly text: string };

const lookMs = 50;

/** Yields the lines, with their ends. With `follow` it continues until `isOver` and the end of the file. */
export async function* readLog(
  path: string,
  options: LogOptions,
  isOver: () => boolean,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const { follow = false, tailLines, limitBytes = Number.POSITIVE_INFINITY } = options;
  const follower = new Follower(path);
  let left = limitBytes;
  let isFirst = true;
  while (signal?.aborted !== true) {
    const over = isOver();
    const lines = (await follower.more()).filter((line) => isRecent(line, options));
    const shown =
      isFirst && tailLines !== undefined
        ? lines.slice(Math.max(0, lines.length - tailLines))
        : lines;
    isFirst = false;
    for (const line of shown) {
      const whole = options.timestamps === true ? `${line.at} ${line.text}` : line.text;
      const text = cut(whole, left);
      left -= Buffer.byteLength(text);
      if (text !== "") yield text;
      if (left <= 0) return;
    }
    if (!follow || over) return;
    await after(lookMs, undefined, { signal }).catch(() => {});
  }
}

/** Returns the last lines, as many as fit. Source: docs, "Determine the Reason for Pod Failure". */
export function lastWordsIn(path: string): string {
  if (!existsSync(path)) return "";
  const lines = linesIn(readFileSync(path, "utf8"));
  const text = lines
    .slice(-80)
    .map((line) => line.text)
    .join("");
  return text.slice(-2_048);
}

class Follower {
  readonly #path: string;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async more(): Promise<readonly Line[]> {
    if (!existsSync(this.#path)) return [];
    await using file = await open(this.#path, "r");
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(size - this.#at), 0, size - this.#at, this.#at);
    const end = buffer.lastIndexOf(10) + 1;
    this.#at += end;
    return linesIn(buffer.subarray(0, end).toString());
  }
}

function linesIn(text: string): readonly Line[] {
  const lines: Line[] = [];
  let before = "";
  for (const [, at = "", kind, words = ""] of text.matchAll(
    /^(\S+) std(?:out|err) ([FP]) (.*)$/gm,
  )) {
    if (kind === "F") lines.push({ at: at.replace("+00:00", "Z"), text: `${before}${words}\n` });
    before = kind === "F" ? "" : `${before}${words}`;
  }
  return before === "" ? lines : [...lines, { at: "", text: before }];
}

function isRecent({ at }: Line, { sinceSeconds, sinceTime }: LogOptions): boolean {
  const ms = Date.parse(at);
  if (sinceSeconds !== undefined && ms < Date.now() - sinceSeconds * 1_000) return false;
  return sinceTime === undefined || ms >= Date.parse(sinceTime);
}

function cut(text: string, bytesMax: number): string {
  return Buffer.byteLength(text) <= bytesMax
    ? text
    : Buffer.from(text).subarray(0, bytesMax).toString();
}
