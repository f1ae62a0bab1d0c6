import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { makeBoardFolder } from "./board-folder.ts";

afterAll(removeFolders);

test("the copies of a TensorBoard with a user of its own are readable by that user, and by no other", () => {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  // Only root gives a folder to another group.
  const gid = own.uid === 0 ? 1_900_000_012 : own.gid;
  const [of, shared] = [join(newFolder(), "tensorboard"), join(newFolder(), "tensorboard")];
  makeBoardFolder(of, { uid: 1_900_000_012, gid });
  makeBoardFolder(shared, null);
  expect(statSync(of)).toMatchObject({ uid: own.uid, gid, mode: 0o40750 });
  expect(statSync(shared)).toMatchObject({ uid: own.uid, mode: 0o40755 });
  // A later agent finds it as it is.
  makeBoardFolder(of, { uid: 1_900_000_012, gid });
  expect(statSync(of).mode).toBe(0o40750);
});
