import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directoryDisk } from "@trainyard/blob";
import { expect, test } from "vitest";
import { missingOf } from "./audit.ts";
import { auditedPlace } from "./audited-places.ts";

const late = "aaaaaaaa-0000-4000-8000-000000000001";
const gone = "aaaaaaaa-0000-4000-8000-000000000002";
const listed = "aaaaaaaa-0000-4000-8000-000000000003";

test("a checkpoint that completed after the storage was listed is not missing", async () => {
  const root = await mkdtemp(join(tmpdir(), "trainyard-audit-"));
  try {
    await mkdir(join(root, late));
    const stores = { of: async () => null };
    const section = { type: "directory", container_path: root };
    const place = await auditedPlace({ stores, disk: directoryDisk }, section, "");
    const known = new Map([late, gone, listed].map((name) => [name, "complete"]));
    expect(await missingOf(known, [listed], place)).toEqual([gone]);
    known.set(gone, "condemned");
    expect(await missingOf(known, [listed], place)).toEqual([]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
