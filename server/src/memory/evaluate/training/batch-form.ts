/** The form in which a training loop's body takes its batches apart. */
import type { Expression, For, Node } from "../../../python/tree";
import { childrenOf, walk } from "../../../python/walk";

/** Into so many parts (0: not at all), by these keys, or as a list of whatever length. */
export interface BatchUses {
  readonly length: number;
  readonly keys: readonly string[];
  readonly isList: boolean;
  /** Whatever is computed with it, it keeps its shape. */
  readonly keepsShape: boolean;
}

/** What the body does to what has a name. */
export function usesOf(name: string, { body }: For): BatchUses {
  let length = 0;
  let isList = false;
  let keepsShape = true;
  const keys = new Set<string>();
  const isIt = (node: Expression): boolean => node.kind === "Name" && node.id === name;
  for (const statement of body)
    walk(statement, {
      enter: (node) => {
        if (node.kind === "Assign" && isIt(node.value))
          for (const target of node.targets) length = Math.max(length, partsOf(target));
        if (node.kind === "Subscript" && isIt(node.object)) {
          if (node.index.kind === "Integer") length = Math.max(length, node.index.value + 1);
          if (node.index.kind === "String" && node.index.value !== undefined) keys.add(node.index.value);
        }
        isList ||= takesAsList(node, isIt);
        keepsShape &&= !mayReshape(node, isIt);
        return true;
      },
    });
  return { length, keys: [...keys], isList, keepsShape };
}

function partsOf(target: Expression): number {
  return target.kind === "Tuple" || target.kind === "List" ? target.elements.length : 0;
}

const keeping: ReadonlySet<string> = new Set(
  "to cuda cpu long float int double half bool type detach clone contiguous size shape dtype device dim numel sum mean max min eq item tolist".split(
    " ",
  ),
);

/** `y[:, 0]`, `y.unsqueeze(1)`. */
function mayReshape(node: Node, isIt: (node: Expression) => boolean): boolean {
  if (node.kind === "Subscript") return isIt(node.object);
  return node.kind === "Attribute" && isIt(node.object) && !keeping.has(node.attribute.id);
}

const joining: ReadonlySet<string> = new Set(["cat", "concat", "stack", "vstack", "hstack"]);

/** `for crop in crops`, `torch.cat(crops)`. */
function takesAsList(node: Node, isIt: (node: Expression) => boolean): boolean {
  if (node.kind === "For") return isIt(node.iterable);
  if (node.kind === "Comprehension") return node.clauses.some(({ iterable }) => isIt(iterable));
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return false;
  const [first] = node.positional;
  return first !== undefined && isIt(first) && joining.has(node.callee.attribute.id);
}

/** `enumerate(loader)`, in a progress bar or not. */
export function enumerates(node: Expression): boolean {
  if (node.kind !== "Call") return false;
  if (node.callee.kind === "Name" && node.callee.id === "enumerate") return true;
  return childrenOf(node).some((child) => child.kind === "Call" && enumerates(child));
}
