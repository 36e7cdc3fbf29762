/**
 * What is known of the nodes of one file: a map from nodes, for what is asked of nearly all of them again and again. It
 * looks a value up by the place of its node in the file, several times as fast as a `Map` finds an object, most of all in
 * long files.
 */
import type { Module, Node } from "./tree";
import { nodesOf } from "./walk";

export class NodeTable<Key extends Node, Value> {
  private readonly nodes: readonly Node[];
  private readonly values: (Value | undefined)[];
  /** Of nodes that belong to no file or to another one, which hardly anybody asks about. */
  private others: Map<Key, Value> | undefined;

  constructor(module: Module) {
    this.nodes = nodesOf(module);
    this.values = new Array<Value | undefined>(this.nodes.length);
  }

  get(node: Key): Value | undefined {
    return this.holds(node) ? this.values[node.order] : this.others?.get(node);
  }

  set(node: Key, value: Value): void {
    if (this.holds(node)) this.values[node.order] = value;
    else (this.others ??= new Map<Key, Value>()).set(node, value);
  }

  delete(node: Key): void {
    if (this.holds(node)) this.values[node.order] = undefined;
    else this.others?.delete(node);
  }

  private holds(node: Key): boolean {
    const { order } = node;
    return order < this.nodes.length && this.nodes[order] === node;
  }
}
