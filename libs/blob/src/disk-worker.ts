/** The child's side of `process-disk.ts`. */
import { isFault } from "@trainyard/kernel";
import { directoryDisk } from "./directory-disk.ts";
import type { DiskAnswer, DiskQuestion, OpenedReader } from "./process-disk.ts";
import type { OpenedFile, StorageDisk } from "./storage-disk.ts";

type Reader = { readonly file: OpenedFile; readonly chunks: AsyncIterator<Uint8Array> };

/** The open files by the number of the question that opened them. */
type Readers = Map<number, Reader>;

async function resultOf(question: DiskQuestion, readers: Readers): Promise<unknown> {
  switch (question.call) {
    case "open":
      return open(question.id, question.args as Parameters<StorageDisk["read"]>, readers);
    case "next": {
      const chunk = await readers.get(question.reader)?.chunks.next();
      return chunk === undefined || chunk.done === true ? null : chunk.value;
    }
    case "close": {
      const reader = readers.get(question.reader);
      readers.delete(question.reader);
      // The file must stay open until a read that runs has ended.
      await reader?.chunks.return?.();
      return reader?.file[Symbol.asyncDispose]();
    }
    default: {
      const call = directoryDisk[question.call] as (...args: readonly unknown[]) => unknown;
      return call(...question.args);
    }
  }
}

async function open(
  id: number,
  place: Parameters<StorageDisk["read"]>,
  readers: Readers,
): Promise<OpenedReader> {
  const file = await directoryDisk.read(...place);
  readers.set(id, { file, chunks: file.content[Symbol.asyncIterator]() });
  return { reader: id, bytes: file.bytes, mode: file.mode, changedAtMs: file.changedAtMs };
}

async function answerTo(question: DiskQuestion, readers: Readers): Promise<DiskAnswer> {
  const { id } = question;
  try {
    return { id, result: await resultOf(question, readers) };
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return { id, error: { code: isFault(error) ? error.code : "disk_failed", message } };
  }
}

function serve(readers: Readers): void {
  process.on("message", (question: DiskQuestion) => {
    void answerTo(question, readers).then((answer) => process.send?.(answer));
  });
}

serve(new Map());
// The parent is gone. An exit would wait for a call that hangs.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
