/** Returns a function that creates the value of each key when it is first used. */
export function onFirstUse<Key, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>();
  return (key) => {
    const existing = values.get(key);
    if (existing !== undefined) return existing;
    const value = create(key);
    values.set(key, value);
    return value;
  };
}
