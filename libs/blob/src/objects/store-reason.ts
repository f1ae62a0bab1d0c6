/**
 * Returns the reason in an answer of S3 or Google Cloud Storage to a signed request, which is a small XML document;
 * empty if it has none.
 */
export function storeReason(answer: string): string {
  const said = ["Code", "Message"].map(
    (name) => new RegExp(`<${name}>([^<]{1,300})</${name}>`).exec(answer)?.[1] ?? "",
  );
  return said.filter((part) => part !== "").join(": ");
}
