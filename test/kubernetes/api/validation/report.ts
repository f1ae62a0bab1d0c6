// Collects what is wrong with an object, with the words and reasons of a real server. Source: API reference,
// "StatusCause".
import type { FieldError } from "../fault.ts";

export class Report {
  readonly errors: FieldError[] = [];

  required(field: string, detail?: string): void {
    this.#add(field, "required", `Required value${detail ? `: ${detail}` : ""}`);
  }

  invalid(field: string, value: unknown, why: string): void {
    this.#add(field, "invalid", `Invalid value: ${JSON.stringify(value)}: ${why}`);
  }

  unsupported(field: string, value: unknown, supported: readonly string[]): void {
    const list = supported.map((one) => JSON.stringify(one)).join(", ");
    this.#add(
      field,
      "notSupported",
      `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
    );
  }

  duplicate(field: string, value: unknown): void {
    this.#add(field, "duplicate", `Duplicate value: ${JSON.stringify(value)}`);
  }

  notFound(field: string, value: unknown): void {
    this.#add(field, "notFound", `Not found: ${JSON.stringify(value)}`);
  }

  forbidden(field: string, why: string): void {
    this.#add(field, "forbidden", `Forbidden: ${why}`);
  }

  tooLong(field: string, bytes: number): void {
    this.#add(field, "tooLong", `Too long: may not be more than ${bytes} bytes`);
  }

  /** The number is at least the limit. */
  atLeast(field: string, value: number | undefined, limit: number): void {
    if (value !== undefined && value < limit) {
      this.invalid(field, value, `must be greater than or equal to ${limit}`);
    }
  }

  #add(field: string, reason: FieldError["reason"], message: string): void {
    // Two rules may see one mistake.
    const isKnown = this.errors.some((error) => error.field === field && error.message === message);
    if (!isKnown) this.errors.push({ field, reason, message });
  }
}
