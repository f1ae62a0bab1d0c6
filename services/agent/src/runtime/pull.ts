/**
 * Makes sure that the host has an image: pulls it if it is missing or the configuration forces a pull, reports the
 * progress, and retries temporary failures a few times. A refusal of the registry fails at once.
 */
import type Docker from "dockerode";
import { Backoff, type Clock, storableText } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { inTime, isGone, problemOf, statusOf } from "./engine.ts";
import { authFor, registryOf } from "./registry-auth.ts";
import { HostProblem, LackProblem, LaunchProblem } from "./runtime.ts";

export type PullDeps = {
  readonly engine: Docker;
  readonly socket: string;
  readonly clock: Clock;
  /** The file with the registries' credentials; empty for none. */
  readonly authFile: string;
  /** The time limit of all attempts together. */
  readonly timeoutMs: number;
  /** Writes a line into the run's log. */
  readonly say: (text: string) => void;
  /** Called when bytes or layers have moved, and at intervals while an engine unpacks without output. */
  readonly onProgress: () => void;
};

type Image = { readonly env: readonly string[] };

type News = {
  readonly status?: string;
  readonly id?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
};

/** Messages of a registry whose cause a retry does not change. */
const final =
  /unauthorized|denied|forbidden|not found|manifest unknown|name unknown|no such image|invalid reference|authentication required|does not exist|insecure|\b40[134]\b/i;

/** Messages of an engine about its host, some of which sound like a registry's. */
const ofHost = /permission denied|executable file|no space left|quota exceeded|read-only file/i;

/**
 * Throws LaunchProblem if the image's name is wrong, LackProblem if the registry refuses it to this host, else
 * HostProblem; once the signal has aborted, any error.
 */
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
  const total = new AbortController();
  using _timer = deps.clock.timer(deps.timeoutMs, () => total.abort());
  await pullAgain(name, deps, signal, total.signal);
  const pulled = await inspect(name, deps);
  if (pulled === null)
    throw new HostProblem(`the image ${name} was pulled and the engine does not have it`);
  deps.say(`image ${name} is here`);
  return pulled;
}

/** Pulls again until the host has the image; `total` aborts when the time limit of all attempts is over. */
async function pullAgain(
  name: string,
  deps: PullDeps,
  signal: AbortSignal,
  total: AbortSignal,
): Promise<void> {
  const either = AbortSignal.any([signal, total]);
  const waits = new Backoff(limits.pullRetry, deps.clock, either);
  // An image of localhost was built on a host: waiting does not bring it here.
  const attemptsMax = isLocal(name) ? 1 : limits.pullAttemptsMax;
  for (let attempt = 1; ; attempt += 1) {
    try {
      deps.say(`pulling image ${name}`);
      return await pull(name, deps, either);
    } catch (error) {
      if (signal.aborted) throw error;
      if (total.aborted) throw tooLong(name, deps, error);
      const why = error instanceof PullProblem ? error.message : problemOf(error, deps.socket);
      const isFinal = final.test(why) || isRefused(error);
      if (isFinal || attempt >= attemptsMax) {
        const times = attempt === 1 ? "" : ` in ${attempt} attempts`;
        const text = `the image ${name} could not be pulled${times}: ${explained(name, why)}`;
        const isRegistrys = error instanceof PullProblem || statusOf(error) !== null;
        const options = { cause: error, lasting: isLocal(name) };
        if (ofHost.test(why) || !isRegistrys) throw new HostProblem(text, options);
        if (isFinal && !isLocal(name)) throw new LaunchProblem(text, options);
        throw new LackProblem(text, options);
      }
      deps.say(`pulling image ${name} failed and is tried again: ${why}`);
      await waits.wait();
      if (total.aborted) throw tooLong(name, deps, error);
    }
  }
}

/** An unknown host is an error in the configuration or in the host's name service: this code cannot know which. */
function explained(name: string, why: string): string {
  if (isLocal(name)) {
    return `it is not on this host, and there is no registry at localhost (${why})`;
  }
  if (!/no such host|server misbehaving|name resolution|name or service not known/i.test(why))
    return why;
  return `this host does not find the registry ${registryOf(name)}; is its name correct? (${why})`;
}

/** Names of images that were built on the host begin with localhost. */
function isLocal(name: string): boolean {
  return registryOf(name) === "localhost";
}

function tooLong(name: string, { timeoutMs }: PullDeps, cause: unknown): LackProblem {
  const text = `the image ${name} was not pulled within ${timeoutMs / 1_000} s, this agent's limit (TRAINYARD_AGENT_PULL_TIMEOUT)`;
  return new LackProblem(text, { cause });
}

/** The name becomes part of a request's path. */
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
  const giveUp = (): void => silence.abort();
  let quiet = clock.timer(limits.pullSilenceMs, giveUp);
  const progress = new Progress(name, deps, () => {
    quiet[Symbol.dispose]();
    quiet = clock.timer(limits.pullSilenceMs, giveUp);
  });
  // While an engine unpacks a layer without output, the launch still counts as progressing, up to the limit of silence.
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
      const lines = `${rest}${String(chunk)}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) progress.take(line, clock.monotonicMs());
    }
    progress.take(rest, clock.monotonicMs());
    abortSignal.throwIfAborted();
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    throw new PullProblem(`nothing of it moved for ${limits.pullSilenceMs / 1_000} s`);
  } finally {
    quiet[Symbol.dispose]();
    clearInterval(moving);
  }
}

/** Layers and their bytes, as far as the engine reports them; logged every few seconds. */
class Progress {
  readonly #name: string;
  readonly #deps: PullDeps;
  readonly #onMove: () => void;
  readonly #layers = new Map<string, { readonly current: number; readonly total: number }>();
  /** The last message about each layer: a repeated message is no progress. */
  readonly #said = new Map<string, string>();
  #toldMs: number | null = null;

  constructor(name: string, deps: PullDeps, onMove: () => void) {
    this.#name = name;
    this.#deps = deps;
    this.#onMove = onMove;
  }

  take(line: string, nowMs: number): void {
    if (line.trim() === "") return;
    const news = JSON.parse(line) as News;
    if (news.error !== undefined) {
      throw new PullProblem(storableText(news.error, limits.saidCharsMax));
    }
    const { current, total } = news.progressDetail ?? {};
    const said = `${news.status ?? ""} ${current ?? ""}`;
    if (this.#said.get(news.id ?? "") === said) return;
    this.#said.set(news.id ?? "", said);
    this.#onMove();
    this.#deps.onProgress();
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
