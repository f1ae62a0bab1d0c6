/** The errors of S3, with the codes of "Error Responses" in its API reference. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const denied = (message = "Access Denied"): S3Error =>
  new S3Error(403, "AccessDenied", message);
