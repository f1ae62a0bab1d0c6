/**
 * Returns the value of a name in a record from the server, or undefined. Names are chosen by users:
 * `record.constructor` would be an inherited property.
 */
export function own<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
