/** A refusal of Google Cloud Storage: written as JSON by the JSON API, as XML by the XML API. */
export class GcsError extends Error {
  override readonly name = "GcsError";
  readonly status: number;
  /** `reason` of the JSON API, `Code` of the XML API. */
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
