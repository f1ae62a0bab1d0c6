import { expect, test } from "vitest";
import { LeaveKeys } from "./leave-keys.ts";

/** Returns what is sent of the keys, each chunk apart. */
function sent(...chunks: readonly string[]): readonly string[] {
  const keys = new LeaveKeys();
  return chunks.map((chunk) => {
    const { bytes, leaves } = keys.read(Buffer.from(chunk));
    return `${Buffer.from(bytes).toString()}${leaves ? " left" : ""}`;
  });
}

test("~. at the start of a line leaves, also when the keys come apart", () => {
  expect(sent("~.")).toEqual([" left"]);
  expect(sent("ls\r~.more")).toEqual(["ls\r left"]);
  expect(sent("ls\r", "~", ".")).toEqual(["ls\r", "", " left"]);
});

test("other keys are sent as they are, and ~~ is one ~", () => {
  expect(sent("cd ~/a~.b\r")).toEqual(["cd ~/a~.b\r"]);
  expect(sent("~/bin\r~~.\r~", "a")).toEqual(["~/bin\r~.\r", "~a"]);
  expect(sent("~\r~.")).toEqual(["~\r left"]);
});
