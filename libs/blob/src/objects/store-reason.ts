/** Characters of an answer that are read. */
const answerCharactersMax = 4_096;

/**
 * Reads the reason from an answer of S3 or Google Cloud Storage to a signed request, which is a small XML document.
 * Returns an empty text if it has none. Reads only the beginning: a proxy may have answered.
 */
export async function storeReason(answer: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of answer) {
    text += Buffer.from(chunk).toString();
    if (text.length >= answerCharactersMax) break;
  }
  const said = ["Code", "Message"].map(
    (name) => new RegExp(`<${name}>([^<]{1,300})</${name}>`).exec(text)?.[1] ?? "",
  );
  return said.filter((part) => part !== "").join(": ");
}
