import type { JsonObject, Message } from "@bufbuild/protobuf";

type Scalar = string | number | bigint | boolean | null | undefined | Uint8Array;

/**
 * A message without the runtime's own fields: what deciders take and give, and tests compare. All fields are present
 * with their defaults, save `optional` ones and messages, which may be absent.
 */
export type Plain<T> = T extends Scalar
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends JsonObject
      ? string extends keyof T
        ? T
        : PlainObject<T>
      : PlainObject<T>;

type PlainObject<T> = {
  readonly [Key in keyof T as Key extends keyof Message ? never : Key]: Plain<T[Key]>;
};
