/**
 * The value of a name in a record from the server; undefined if it has none. Names are chosen by users:
 * `record.constructor` would be what every object inherits.
 */
export function own<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
