/** A map that takes no memory until something is put into it: most modules and functions have several that stay empty. */
export class LazyMap<Key, Entry> implements Iterable<[Key, Entry]> {
  protected map: Map<Key, Entry> | undefined;

  get size(): number {
    return this.map === undefined ? 0 : this.map.size;
  }

  get(key: Key): Entry | undefined {
    return this.map === undefined ? undefined : this.map.get(key);
  }

  has(key: Key): boolean {
    return this.map !== undefined && this.map.has(key);
  }

  set(key: Key, entry: Entry): this {
    this.map ??= new Map();
    this.map.set(key, entry);
    return this;
  }

  delete(key: Key): boolean {
    return this.map !== undefined && this.map.delete(key);
  }

  clear(): void {
    this.map = undefined;
  }

  keys(): Iterable<Key> {
    return this.map === undefined ? [] : this.map.keys();
  }

  values(): Iterable<Entry> {
    return this.map === undefined ? [] : this.map.values();
  }

  entries(): Iterable<[Key, Entry]> {
    return this.map === undefined ? [] : this.map.entries();
  }

  [Symbol.iterator](): Iterator<[Key, Entry]> {
    return this.entries()[Symbol.iterator]();
  }
}
