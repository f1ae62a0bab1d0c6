import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directoryDisk, removeCheckpointFolder, storageMarkerName } from "@trainyard/blob";
import type { Fault } from "@trainyard/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifyFiles } from "./verify-files.ts";

const content = "the weights";
const manifest = [
  {
    path: "weights",
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  },
];
const written = "00000000-0000-4000-8000-00000000000a";
const another = "00000000-0000-4000-8000-00000000000b";

/** The markers that a host may see at the storage; only the first is the one that the writer saw. */
const markers = [written, another, null, "", "garbage", "a folder"] as const;
const files = ["whole", "truncated", "missing", "no folder"] as const;

test("only files of the storage that was written to count as missing, fail or are deleted, whatever a host sees at the path", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...markers),
      fc.constantFrom(written, another, ""),
      fc.constantFrom(...files),
      async (marker, storageId, state) => {
        const root = await mkdtemp(join(tmpdir(), "trainyard-views-"));
        try {
          const checkpoint = randomUUID();
          const folder = join(root, checkpoint);
          const file = join(folder, "weights");
          if (state !== "no folder") await mkdir(folder);
          if (state === "whole" || state === "truncated") await writeFile(file, content);
          if (state === "truncated") await truncate(file, 3);
          if (marker === "a folder") await mkdir(join(root, storageMarkerName));
          else if (marker !== null) await writeFile(join(root, storageMarkerName), marker);
          const isSame = storageId !== "" && storageId === marker;

          const { kind } = await verifyFiles(directoryDisk, { folder, storageId }, manifest);
          if (state === "whole" && (isSame || storageId === "")) expect(kind).toBe("verified");
          else if (isSame) expect(["differs", "absent"]).toContain(kind);
          else expect(kind).toBe("unreadable");

          const before = existsSync(folder);
          const storage = { type: "directory", container_path: root };
          const outcome = await removeCheckpointFolder(
            storage,
            checkpoint,
            storageId,
            directoryDisk,
          ).then(
            () => "removed",
            (fault: unknown) => (fault as Fault).retry,
          );
          expect(outcome).toBe(isSame ? "removed" : "later");
          expect(existsSync(folder)).toBe(isSame ? false : before);
        } finally {
          await rm(root, { recursive: true });
        }
      },
    ),
    { numRuns: 300 },
  );
});
