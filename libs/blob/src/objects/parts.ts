/** How a file is cut into parts. The SDK follows the same rule (`_checkpoint/_parts.py`). */
const partBytesMin = 64 * 1024 * 1024;
const partsMax = 1_000;

/** The bytes of each part but the last: 64 MiB, or as many times twice that as it takes to have at most 1,000 parts. */
export function partBytesOf(bytes: number): number {
  let part = partBytesMin;
  while (bytes > part * partsMax) part *= 2;
  return part;
}
