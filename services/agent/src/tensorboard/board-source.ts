/** The files of a TensorBoard's trials, as the gateway lists them for the run's token. */
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  ListTensorBoardFilesResponseSchema,
  ListTensorBoardTrialsResponseSchema,
  type ListTensorBoardFilesResponse,
  type ListTensorBoardTrialsResponse,
  type TensorBoardFile,
  type TensorBoardTrial,
} from "@trainyard/contracts/api";
import type { Launch } from "@trainyard/contracts/agent";
import { limits } from "../limits.ts";

export type BoardFile = Plain<TensorBoardFile>;
export type BoardTrial = Plain<TensorBoardTrial>;

export interface BoardSource {
  /** All trials, each once. Throws a BoardsAway if they cannot be listed now. */
  trials(signal: AbortSignal): AsyncIterable<BoardTrial>;
  /** Pages of the present files of a trial, or why some are missing. Throws a BoardsAway. */
  files(trial: string, signal: AbortSignal): AsyncIterable<BoardPage>;
  /** The bytes of a file from an offset on. May have more bytes than were listed, if the file has grown. */
  read(
    trial: string,
    file: BoardFile,
    offset: number,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
}

export type BoardPage = { readonly files: readonly BoardFile[]; readonly problem: string };

/** The files cannot be listed or read. `over`: the run has no right to them any more. */
export class BoardsAway extends Error {
  readonly over: boolean;

  constructor(why: string, over = false) {
    super(why);
    this.over = over;
  }
}

const trialPages = codecOf<Plain<ListTensorBoardTrialsResponse>>(
  ListTensorBoardTrialsResponseSchema,
);
const filePages = codecOf<Plain<ListTensorBoardFilesResponse>>(ListTensorBoardFilesResponseSchema);

/** The codes after which nothing more can be read. */
const finalCodes: ReadonlySet<string> = new Set(["run_ended", "task_ended", "history_lost"]);

/** Asks the gateway with a run's token. An answer of another program counts as none of the platform. */
type RunRequest = (
  launch: Plain<Launch>,
  url: string,
  body: null,
  signal: AbortSignal,
) => Promise<{
  readonly status: number;
  readonly isOfPlatform: boolean;
  readonly text: string;
  readonly code: string;
  readonly why: string;
}>;

export class GatewayBoards implements BoardSource {
  readonly #launch: Plain<Launch>;
  readonly #url: string;
  readonly #request: RunRequest;

  constructor(launch: Plain<Launch>, apiUrl: string, request: RunRequest) {
    this.#request = request;
    this.#launch = launch;
    this.#url = `${apiUrl}/api/v1/runs/${encodeURIComponent(launch.allocation)}/tensorboard`;
  }

  async *trials(signal: AbortSignal): AsyncGenerator<BoardTrial> {
    let token = "";
    do {
      const text = await this.#get(`?pageToken=${encodeURIComponent(token)}`, signal);
      const page = trialPages.decode(text);
      yield* page.trials;
      token = page.nextPageToken;
    } while (token !== "");
  }

  async *files(trial: string, signal: AbortSignal): AsyncGenerator<BoardPage> {
    let after = "";
    for (;;) {
      const asked = `/${encodeURIComponent(trial)}?after=${encodeURIComponent(after)}`;
      const page = filePages.decode(await this.#get(asked, signal));
      yield page;
      const last = page.files.at(-1);
      if (last === undefined) return;
      after = last.path;
    }
  }

  async *read(
    trial: string,
    { path, request }: BoardFile,
    offset: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    if (request !== undefined) {
      const headers = offset === 0 ? request.headers : { ...request.headers, range: from(offset) };
      yield* bytesOf(request.url, { method: request.method, headers }, offset, signal);
      return;
    }
    const asked = new URLSearchParams({ path, offset: String(offset) });
    const url = `${this.#url}/${encodeURIComponent(trial)}/file?${asked}`;
    const headers = { authorization: `Bearer ${this.#launch.token}` };
    // The gateway begins at the offset, and answers with 200.
    yield* bytesOf(url, { method: "GET", headers }, 0, signal);
  }

  async #get(path: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#request(this.#launch, `${this.#url}${path}`, null, signal);
    const { status, isOfPlatform, text, code, why } = answer;
    if (isOfPlatform && status === 200) return text;
    throw new BoardsAway(why, isOfPlatform && finalCodes.has(code));
  }
}

const from = (offset: number): string => `bytes=${offset}-`;

/** Some stores ignore ranges: an answer with 200 has the whole file, of which the beginning is left out. */
async function* bytesOf(
  url: string,
  asked: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  offset: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(limits.boards.readMs)]);
  const response = await fetch(url, { ...asked, redirect: "manual", signal: within });
  const { status, body } = response;
  // No byte is behind the offset.
  if (status === 416) {
    await body?.cancel();
    return;
  }
  if ((status !== 200 && status !== 206) || body === null) {
    await body?.cancel();
    throw new BoardsAway(`a file was answered with ${status}`);
  }
  let left = status === 206 ? 0 : offset;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const skipped = Math.min(left, chunk.byteLength);
    left -= skipped;
    if (skipped < chunk.byteLength) yield chunk.subarray(skipped);
  }
}
