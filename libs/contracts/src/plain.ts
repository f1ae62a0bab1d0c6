import type { JsonObject, Message } from "@bufbuild/protobuf";

/**
 * A message without the runtime's own fields: what deciders take and give, and tests compare. All fields are present
 * with their defaults, save `optional` ones and messages, which may be absent.
 */
export type Plain<T> = T extends JsonObject
  ? string extends keyof T
    ? T
    : PlainObject<T>
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends Uint8Array
      ? T
      : T extends object
        ? PlainObject<T>
        : T;

type PlainObject<T> = {
  readonly [Key in Exclude<keyof T, keyof Message>]: Plain<T[Key]>;
};
