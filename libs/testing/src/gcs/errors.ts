/** An error of Google Cloud Storage: JSON in the JSON API, XML in the XML API. */
export class GcsError extends Error {
  override readonly name = "GcsError";
  readonly status: number;
  /** The `reason` of the JSON API, or the `Code` of the XML API. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const noBucket = (): GcsError =>
  new GcsError(404, "notFound", "The specified bucket does not exist.");

export const noObject = (bucket: string, name: string): GcsError =>
  new GcsError(404, "notFound", `No such object: ${bucket}/${name}`);
