/** Reads the members of an `ar` archive (System V layout, short names only), the format of Debian packages. */
const magic = "!<arch>\n";
const headerBytes = 60;

export type ArMember = { readonly name: string; readonly content: Uint8Array };

export function arMembers(archive: Uint8Array): readonly ArMember[] {
  const text = (from: number, to: number): string =>
    Buffer.from(archive.subarray(from, to)).toString("latin1").trim();
  if (Buffer.from(archive.subarray(0, magic.length)).toString("latin1") !== magic) return [];
  const members: ArMember[] = [];
  let at = magic.length;
  while (at + headerBytes <= archive.length) {
    const name = text(at, at + 16).replace(/\/$/, "");
    const bytes = Number(text(at + 48, at + 58));
    const start = at + headerBytes;
    if (!Number.isInteger(bytes) || start + bytes > archive.length) return members;
    members.push({ name, content: archive.subarray(start, start + bytes) });
    // Members begin at even offsets.
    at = start + bytes + (bytes % 2);
  }
  return members;
}
