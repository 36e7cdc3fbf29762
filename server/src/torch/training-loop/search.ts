/** Looking for a node below another. */
import type { Node } from "../../python/tree";
import { walk } from "../../python/walk";

/** True when the node or one below it is what is looked for. */
export function contains(root: Node, isWanted: (node: Node) => boolean): boolean {
  const found: Node[] = [];
  walk(root, {
    enter(node) {
      if (found.length === 0 && isWanted(node)) found.push(node);
      return found.length === 0;
    },
  });
  return found.length > 0;
}
