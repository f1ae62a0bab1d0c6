/** The child's side of `process-disk.ts`. */
import { isFault } from "@trainyard/kernel";
import type { DiskAnswer, DiskQuestion } from "./process-disk.ts";
import { directoryDisk } from "./storage-disk.ts";

async function resultOf(question: DiskQuestion): Promise<unknown> {
  switch (question.call) {
    case "mark":
      return directoryDisk.mark(question.root, question.id);
    case "renew":
      return directoryDisk.renew(question.root, question.mark);
    case "files": {
      const files: string[] = [];
      await directoryDisk.removeFiles(question.root, question.below, (file) => {
        files.push(file);
        return false;
      });
      return files;
    }
    case "removeFiles": {
      const files = new Set(question.files);
      return directoryDisk.removeFiles(question.root, question.below, (file) => files.has(file));
    }
    case "removeFolder":
      return directoryDisk.removeFolder(question.root, question.below);
    default:
      return directoryDisk.seen(question.root);
  }
}

async function answerTo(question: DiskQuestion): Promise<DiskAnswer> {
  try {
    return { result: await resultOf(question) };
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return { error: { code: isFault(error) ? error.code : "disk_failed", message } };
  }
}

process.on("message", (question: DiskQuestion) => {
  void answerTo(question).then((answer) => process.send?.(answer));
});
// The parent is gone. An exit would wait for a call that hangs.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
