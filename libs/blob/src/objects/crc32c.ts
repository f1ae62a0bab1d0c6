/**
 * CRC-32C (Castagnoli), in the format of the stores: base64 of four bytes, the highest first. Source: RFC 3720,
 * appendix B.4.
 */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

export function crc32cOf(content: Uint8Array): string {
  let value = 0xffffffff;
  for (const byte of content) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(~value >>> 0);
  return bytes.toString("base64");
}
