/**
 * Makes sure that an image is there: pulls it where it is missing or where the configuration forces a pull, tells of its
 * progress, and tries again a few times what may get better. What the registry refuses fails at once.
 */
import type Docker from "dockerode";
import { Backoff, type Clock, storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { inTime, isGone, problemOf, statusOf } from "./engine.ts";
import { authFor } from "./registry-auth.ts";
import { HostProblem, LaunchProblem } from "./runtime.ts";

export type PullDeps = {
  readonly engine: Docker;
  readonly socket: string;
  readonly clock: Clock;
  /** Empty for none. */
  readonly authFile: string;
  /** A line of the run's log. */
  readonly say: (text: string) => void;
  /** Called with each piece of news: the launch moves. */
  readonly onProgress: () => void;
};

type Image = { readonly env: readonly string[] };

type News = {
  readonly status?: string;
  readonly id?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
};

/** A registry's words for what does not change by asking again. */
const final =
  /unauthorized|denied|forbidden|not found|manifest unknown|name unknown|no such image|invalid reference|authentication required|does not exist|insecure|\b40[134]\b/i;

/** An engine's words for what is wrong with its host, although they sound like a registry's. */
const ofHost = /permission denied|executable file/i;

/** Throws LaunchProblem where the name of the image is the reason, else HostProblem; once the signal has aborted, anything. */
export async function ensureImage(
  name: string,
  force: boolean,
  deps: PullDeps,
  signal: AbortSignal,
): Promise<Image> {
  if (!isReference(name)) {
    throw new LaunchProblem(`${JSON.stringify(name)} is no name of an image`);
  }
  const found = force ? null : await inspect(name, deps);
  if (found !== null) return found;
  const waits = new Backoff(limits.pullRetry, deps.clock, signal);
  for (let attempt = 1; ; attempt += 1) {
    try {
      deps.say(`pulling image ${name}`);
      await pull(name, deps, signal);
      break;
    } catch (error) {
      if (signal.aborted) throw error;
      const why = error instanceof PullProblem ? error.message : problemOf(error, deps.socket);
      const isFinal = final.test(why) || isRefused(error);
      if (isFinal || attempt >= limits.pullAttemptsMax) {
        const times = attempt === 1 ? "" : ` in ${attempt} attempts`;
        const Problem = isFinal && !ofHost.test(why) ? LaunchProblem : HostProblem;
        throw new Problem(`the image ${name} could not be pulled${times}: ${why}`, {
          cause: error,
        });
      }
      deps.say(`pulling image ${name} failed and is tried again: ${why}`);
      await waits.wait();
    }
  }
  const pulled = await inspect(name, deps);
  if (pulled === null)
    throw new HostProblem(`the image ${name} was pulled and the engine does not have it`);
  deps.say(`image ${name} is here`);
  return pulled;
}

/** It becomes a part of the path of a request. */
function isReference(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/.test(name) && !name.includes("..");
}

class PullProblem extends Error {
  override readonly name = "PullProblem";
}

function isRefused(error: unknown): boolean {
  return [400, 401, 403, 404].includes(statusOf(error) ?? 0);
}

async function inspect(name: string, { engine, socket }: PullDeps): Promise<Image | null> {
  try {
    const { Config } = await inTime(engine.getImage(name).inspect());
    return { env: Config?.Env ?? [] };
  } catch (error) {
    if (isGone(error)) return null;
    const Problem = statusOf(error) === 400 ? LaunchProblem : HostProblem;
    throw new Problem(problemOf(error, socket), { cause: error });
  }
}

async function pull(name: string, deps: PullDeps, signal: AbortSignal): Promise<void> {
  const { engine, authFile, clock } = deps;
  const auth = authFile === "" ? null : authFor(name, authFile);
  const silence = new AbortController();
  const abortSignal = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), limits.pullSilenceMs);
  const progress = new Progress(name, deps);
  // An engine that unpacks says little, and the launch moves all the same.
  const moving = setInterval(deps.onProgress, limits.pullTellMs);
  try {
    const options = auth === null ? { abortSignal } : { abortSignal, authconfig: auth };
    const stream = await engine.pull(name, options);
    abortSignal.addEventListener(
      "abort",
      () => (stream as NodeJS.ReadableStream & { destroy(): void }).destroy(),
      { once: true },
    );
    let rest = "";
    for await (const chunk of stream) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), limits.pullSilenceMs);
      const lines = `${rest}${String(chunk)}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) progress.take(line, clock.monotonicMs());
    }
    progress.take(rest, clock.monotonicMs());
    abortSignal.throwIfAborted();
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    throw new PullProblem(`the engine said nothing for ${limits.pullSilenceMs / 1_000} s`);
  } finally {
    clearTimeout(timer);
    clearInterval(moving);
  }
}

/** Bytes of the layers, as far as the engine tells them; in the log every few seconds. */
class Progress {
  readonly #name: string;
  readonly #deps: PullDeps;
  readonly #layers = new Map<string, { readonly current: number; readonly total: number }>();
  #toldMs: number | null = null;

  constructor(name: string, deps: PullDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  take(line: string, nowMs: number): void {
    if (line.trim() === "") return;
    const news = JSON.parse(line) as News;
    if (news.error !== undefined) {
      throw new PullProblem(storableText(news.error, limits.saidCharsMax));
    }
    this.#deps.onProgress();
    const { current, total } = news.progressDetail ?? {};
    if (news.id === undefined || current === undefined || total === undefined) return;
    this.#layers.set(`${news.id} ${news.status ?? ""}`, { current, total });
    this.#toldMs ??= nowMs;
    if (nowMs - this.#toldMs < limits.pullTellMs) return;
    this.#toldMs = nowMs;
    this.#deps.say(`pulling image ${this.#name}: ${this.#text()}`);
  }

  #text(): string {
    const layers = [...this.#layers.values()];
    const sum = (key: "current" | "total"): string =>
      (layers.reduce((total, layer) => total + layer[key], 0) / 1e6).toFixed(0);
    return `${sum("current")} of ${sum("total")} MB`;
  }
}
