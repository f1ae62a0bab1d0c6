import type { Clock } from "@trainyard/kernel";
import { askUse } from "../servers/server-use.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { requestAsRun } from "./delivery.ts";
import { BoardFolder, boardFolderOf, makeBoardFolder } from "../tensorboard/board-folder.ts";
import { GatewayBoards } from "../tensorboard/board-source.ts";
import { type BoardDeps, keepBoards } from "../tensorboard/keep-boards.ts";

type BoardRunDeps = Pick<BoardDeps, "events"> & {
  readonly run: {
    readonly folder: RunFolder;
    /** Adds lines to the run's log. */
    tell(lines: readonly string[]): void;
  };
  readonly apiUrl: string;
  readonly clock: Clock;
  /** The most bytes of copies for one run. */
  readonly tensorBoardBytes: number;
};

/**
 * Keeps the files of a TensorBoard's run up to date until it is disposed of; null for another run. Their folder exists
 * when this returns, so that it can be mounted.
 */
export function openBoards(given: BoardRunDeps): Disposable | null {
  const { run, apiUrl, tensorBoardBytes: bytesMax } = given;
  const { folder } = run;
  const root = boardFolderOf(folder);
  if (root === null) return null;
  makeBoardFolder(root, folder.owner);
  const stop = new AbortController();
  const source = new GatewayBoards(folder.launch, apiUrl, requestAsRun);
  const { allocation } = folder.launch;
  const note = (line: string): void => run.tell([line]);
  const kept = { source, folder: new BoardFolder(root), bytesMax, allocation, note };
  const lookedAtSeconds = async (signal: AbortSignal): Promise<number | null> =>
    (await askUse(folder, signal)).request_seconds;
  void keepBoards({ ...given, ...kept, lookedAtSeconds }, stop.signal);
  return { [Symbol.dispose]: () => stop.abort() };
}
