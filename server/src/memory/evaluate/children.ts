/** The nodes directly inside a node, whatever its kind; spans without a kind of their own are looked through. */
import type { Node } from "../../python/tree";

const notChildren = new Set(["parent", "comments", "errors"]);

function isNode(value: object): value is Node {
  return "kind" in value && typeof value.kind === "string";
}

export function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  collect(node, found);
  return found;
}

/** Goes at most a few levels down: parameters, clauses, handlers and the like hold nodes but are none. */
function collect(holder: object, found: Node[]): void {
  for (const [key, value] of Object.entries(holder)) {
    if (typeof value !== "object" || value === null || notChildren.has(key)) continue;
    for (const one of (Array.isArray(value) ? value : [value]) as readonly unknown[]) {
      if (typeof one !== "object" || one === null) continue;
      if (isNode(one)) found.push(one);
      else collect(one, found);
    }
  }
}
