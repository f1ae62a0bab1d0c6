/** Trials' TensorBoard files in memory, and a folder for their copies. For tests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BoardFile, BoardsAway, type BoardSource } from "../tensorboard/board-source.ts";

type Original = { readonly text: string; readonly changedAtMs: number };

export class BoardWorld implements BoardSource, AsyncDisposable {
  /** The originals by trial and path. */
  readonly originals = new Map<string, Map<string, Original>>();
  /** The reads so far, as `trial path offset`. */
  reads: string[] = [];
  /** Why nothing can be listed; null if it can. */
  away: BoardsAway | null = null;
  /** The number of bytes after which each read is cut off by an error; null for none. */
  cutAfter: number | null = null;
  passes = 0;
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async open(): Promise<BoardWorld> {
    return new BoardWorld(await mkdtemp(join(tmpdir(), "trainyard-boards-")));
  }

  put(trial: string, files: Readonly<Record<string, string>>, changedAtMs = 1_000): void {
    const held = this.originals.get(trial) ?? new Map<string, Original>();
    for (const [path, text] of Object.entries(files)) held.set(path, { text, changedAtMs });
    this.originals.set(trial, held);
  }

  async *trials() {
    this.passes += 1;
    if (this.away !== null) throw this.away;
    for (const trial of this.originals.keys()) {
      yield { experiment: trial.split(".")[0] ?? "", trial };
    }
  }

  async *files(trial: string) {
    const files = [...(this.originals.get(trial) ?? [])].map(([path, { text, changedAtMs }]) => {
      return { path, bytes: Buffer.byteLength(text), changedAtMs };
    });
    for (const file of files) yield { files: [file], problem: "" };
    yield { files: [], problem: "" };
  }

  async *read(trial: string, { path }: BoardFile, offset: number) {
    this.reads.push(`${trial} ${path} ${offset}`);
    const { text = "" } = this.originals.get(trial)?.get(path) ?? {};
    for (const [index, byte] of [...Buffer.from(text).subarray(offset)].entries()) {
      if (index === this.cutAfter) throw new BoardsAway("the link is gone");
      yield Buffer.from([byte]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
