import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Header } from "tar";
import { expect, test } from "vitest";
import { refusalOfModelCode } from "./model-code.ts";

type Part = {
  readonly path: string;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "FIFO";
  readonly linkpath?: string;
  readonly size?: number;
};

/** An archive with whatever is asked for: packers refuse to write most of it. */
function packed(...parts: readonly Part[]): Buffer {
  const blocks = parts.map(({ path, type = "File", linkpath, size = 0 }) => {
    const block = Buffer.alloc(512);
    new Header({
      path,
      type,
      mode: 0o644,
      size,
      ...(linkpath === undefined ? {} : { linkpath }),
    }).encode(block);
    return block;
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const refusal = (bytes: Buffer): Promise<string | null> =>
  refusalOfModelCode(Readable.from([bytes]));

test.each<readonly [string, readonly Part[]]>([
  ["files and folders", [{ path: "train.py" }, { path: "models/net.py" }]],
  ["a link within", [{ path: "a/b/link", type: "SymbolicLink", linkpath: "../../train.py" }]],
  ["dots that stay within", [{ path: "a/../train.py" }]],
  ["an empty folder", [{ path: "./", type: "Directory" }]],
])("takes %s", async (_what, parts) => {
  expect(await refusal(packed(...parts))).toBeNull();
});

test.each<readonly [string, readonly Part[], string]>([
  ["a path that leads out", [{ path: "../train.py" }], "leads out"],
  ["one that leads out on its way", [{ path: "a/../../a/train.py" }], "leads out"],
  ["an absolute path", [{ path: "/etc/passwd" }], "leads out"],
  [
    "a link that leads out",
    [{ path: "a/link", type: "SymbolicLink", linkpath: "../../x" }],
    "the link",
  ],
  [
    "an absolute link",
    [{ path: "link", type: "SymbolicLink", linkpath: "/etc/passwd" }],
    "the link",
  ],
  ["a hard link that leads out", [{ path: "a/link", type: "Link", linkpath: "../x" }], "the link"],
  ["a pipe", [{ path: "pipe", type: "FIFO" }], "neither a file"],
])("refuses %s", async (_what, parts, why) => {
  expect(await refusal(packed(...parts))).toContain(why);
});

test("refuses what is no archive, and one that is cut off", async () => {
  expect(await refusal(Buffer.from("not an archive"))).toContain("not a readable");
  expect(await refusal(packed({ path: "train.py" }).subarray(0, 30))).toContain("not a readable");
});

test("a disk that fails is not the archive's fault", async () => {
  const broken = new Readable({
    read() {
      this.destroy(Object.assign(new Error("EIO"), { code: "EIO", syscall: "read" }));
    },
  });
  await expect(refusalOfModelCode(broken)).rejects.toThrow("EIO");
});
