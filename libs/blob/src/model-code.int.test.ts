import { execFileSync } from "node:child_process";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Header } from "tar";
import { expect, test } from "vitest";
import { refusalOfModelCode } from "./model-code.ts";

type Part = {
  readonly path: string;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "FIFO" | "ExtendedHeader";
  readonly linkpath?: string;
  readonly size?: number;
};

/** Packs any entries, even those that ordinary packers refuse to write. */
const packed = (...parts: readonly Part[]): Buffer =>
  gzipSync(Buffer.concat([...headersOf(parts), Buffer.alloc(1024)]));

function headersOf(parts: readonly Part[]): readonly Buffer[] {
  return parts.map(({ path, type = "File", linkpath, size = 0 }) => {
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
}

const refusal = (bytes: Buffer): Promise<string | null> =>
  refusalOfModelCode(Readable.from([bytes]));

test.each<readonly [string, readonly Part[]]>([
  ["files and folders", [{ path: "train.py" }, { path: "models/net.py" }]],
  ["a link within", [{ path: "a/b/link", type: "SymbolicLink", linkpath: "../../train.py" }]],
  ["dots that stay within", [{ path: "a/../train.py" }]],
  ["an empty folder", [{ path: "./", type: "Directory" }]],
])("model code may contain %s", async (_what, parts) => {
  expect(await refusal(packed(...parts))).toBeNull();
});

test.each<readonly [string, readonly Part[], string]>([
  ["a path that leads out", [{ path: "../train.py" }], "leads out"],
  ["a path that leads out in its middle", [{ path: "a/../../a/train.py" }], "leads out"],
  ["an absolute path", [{ path: "/etc/passwd" }], "leads out"],
  [
    "a link that leads out",
    [{ path: "a/link", type: "SymbolicLink", linkpath: "../../x" }],
    'the link "a/link" leads out of it; a line in .trainyardignore leaves it out',
  ],
  [
    "an absolute link",
    [{ path: "link", type: "SymbolicLink", linkpath: "/etc/passwd" }],
    "the link",
  ],
  ["a hard link that leads out", [{ path: "a/link", type: "Link", linkpath: "../x" }], "the link"],
  ["a pipe", [{ path: "pipe", type: "FIFO" }], "neither a file"],
])("model code with %s is refused", async (_what, parts, why) => {
  expect(await refusal(packed(...parts))).toContain(why);
});

test("a file that is no archive, and a truncated archive, are refused", async () => {
  expect(await refusal(Buffer.from("not an archive"))).toContain("not a readable");
  expect(await refusal(packed({ path: "train.py" }).subarray(0, 30))).toContain("not a readable");
});

test("a disk that fails is not reported as a fault of the archive", async () => {
  const broken = new Readable({
    read() {
      this.destroy(Object.assign(new Error("EIO"), { code: "EIO", syscall: "read" }));
    },
  });
  await expect(refusalOfModelCode(broken)).rejects.toThrow("EIO");
});

/** A gzip member of zeros; gzip reads consecutive members as one stream. */
const zeroBytes = 16 * 1024 * 1024;
const zeros = gzipSync(Buffer.alloc(zeroBytes), { level: 9 });
const gibibyte = 1024 * 1024 * 1024;

/** A stream of the bytes in pieces, like an upload, which counts the bytes that were read. */
function inPieces(...buffers: readonly Buffer[]): { readonly stream: Readable; taken: number } {
  const all = Buffer.concat([...buffers]);
  const read = { stream: Readable.from(pieces()), taken: 0 };
  function* pieces(): Generator<Buffer> {
    for (; read.taken < all.length; read.taken += 4096) {
      yield all.subarray(read.taken, read.taken + 4096);
    }
  }
  return read;
}

test.each<readonly [string, () => readonly Buffer[], string]>([
  [
    "a file header of 3 GiB",
    () => [gzipSync(headersOf([{ path: "zeros", size: 3 * gibibyte }])[0] ?? ""), ...bomb(192)],
    "more than 2 GiB",
  ],
  [
    "a path that leads out before a large file",
    () => [
      gzipSync(
        Buffer.concat([...headersOf([{ path: "../x" }, { path: "zeros", size: gibibyte }])]),
      ),
      ...bomb(64),
    ],
    "leads out",
  ],
  [
    "data after the archive's end",
    () => [packed({ path: "train.py" }), ...bomb(192)],
    "has data after its end",
  ],
  ["a second compression", () => [gzipSync(Buffer.concat(bomb(192)))], "twice"],
  [
    "a header of more than 1 MiB",
    () => [
      gzipSync(headersOf([{ path: "pax", type: "ExtendedHeader", size: gibibyte }])[0] ?? ""),
      ...bomb(64),
    ],
    "one of its headers",
  ],
])("model code with %s is refused at the first byte that shows it", async (_what, buffers, why) => {
  const all = buffers();
  const read = inPieces(...all, ...bomb(8));
  expect(await refusalOfModelCode(read.stream)).toContain(why);
  expect(read.taken).toBeLessThan(400_000);
});

const bomb = (members: number): Buffer[] => Array.from({ length: members }, () => zeros);

test("an archive that unpacks to gigabytes is refused in bounded memory, without blocking the event loop", () => {
  // Each entry of the archive is small, and so are its headers.
  const entry = gzipSync(
    Buffer.concat([...headersOf([{ path: "zeros", size: zeroBytes }]), Buffer.alloc(zeroBytes)]),
  );
  const script = `
    import { Readable } from "node:stream";
    import { refusalOfModelCode } from ${JSON.stringify(new URL("./model-code.ts", import.meta.url).href)};
    const entry = Buffer.from(${JSON.stringify(entry.toString("base64"))}, "base64");
    const all = Buffer.concat(Array.from({ length: 192 }, () => entry));
    let turns = 0;
    const turn = () => { turns += 1; turning = setImmediate(turn); };
    let turning = setImmediate(turn);
    const before = process.resourceUsage().maxRSS;
    const refusal = await refusalOfModelCode(Readable.from([all]));
    clearImmediate(turning);
    const grownMiB = (process.resourceUsage().maxRSS - before) / 1024;
    console.log(JSON.stringify({ refusal, turns, grownMiB }));
  `;
  const parameters = ["--input-type=module-typescript", "-e", script];
  const output = execFileSync(process.execPath, parameters, { timeout: 200_000 });
  const {
    refusal: found,
    turns,
    grownMiB,
  } = JSON.parse(output.toString()) as {
    readonly refusal: string;
    readonly turns: number;
    readonly grownMiB: number;
  };
  expect(found).toContain("more than 2 GiB");
  // The event loop gets at least one turn per MiB, which takes some milliseconds.
  expect(turns).toBeGreaterThan(2 * 1024 - zeroBytes / 1024 / 1024);
  expect(grownMiB).toBeLessThan(128);
});

test("an archive with too many headers is refused, even if they make no entries", async () => {
  const [empty = Buffer.alloc(0)] = headersOf([{ path: "pax", type: "ExtendedHeader" }]);
  const many = gzipSync(Buffer.concat(Array.from({ length: 16 * 1024 }, () => empty)));
  const all = Readable.from([many, ...Array.from({ length: 40 }, () => many)]);
  expect(await refusalOfModelCode(all)).toBe("its headers have more than 256 MiB");
});

test("zeros that fill up an archive's last record are accepted", async () => {
  const filled = Buffer.concat([...headersOf([{ path: "train.py" }]), Buffer.alloc(512 * 1024)]);
  expect(await refusal(gzipSync(filled))).toBeNull();
});
