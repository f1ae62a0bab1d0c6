/** Shares a running read of the key, or starts one. */
export function shared<Key, Value>(
  underWay: Map<Key, Promise<Value>>,
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const reading = read().finally(() => underWay.delete(key));
  underWay.set(key, reading);
  return reading;
}
