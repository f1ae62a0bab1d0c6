import type { JsonObject, Message } from "@bufbuild/protobuf";

type Scalar = string | number | bigint | boolean | null | undefined | Uint8Array;

/**
 * A message without @bufbuild/protobuf's internal fields, as deciders use it and tests compare it. All fields have a
 * value; only `optional` ones and messages may be absent.
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
