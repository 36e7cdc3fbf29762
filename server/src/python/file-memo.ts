/**
 * What is found out about a whole file once and kept with the root of its tree.
 *
 * A `WeakMap` from modules would do the same at a price: the small collections that V8 makes all the time take whatever
 * such a map holds for alive, so that the tree of every file that was checked would be copied by several of them.
 */
import type { Module } from "./tree";

export class FileMemo<Value> {
  /** What is known of the file, found by `find` when it is asked for the first time. */
  of(module: Module, find: () => Value): Value {
    const { memos } = module;
    if (!memos.has(this)) memos.set(this, find());
    return memos.get(this) as Value;
  }

  /** The same as far as somebody has asked for it. */
  known({ memos }: Module): Value | undefined {
    return memos.get(this) as Value | undefined;
  }
}
