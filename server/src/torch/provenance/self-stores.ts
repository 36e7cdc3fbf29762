/**
 * What methods that a framework calls again and again keep in attributes of `self`, and whether anything in the file empties
 * those.
 */
import type { ClassDefinition, Expression, FunctionDefinition, Node } from "../../python/tree";
import { ancestors, enclosingStatement, someNode } from "../../python/walk";
import { clearingMethods } from "../api-graph";
import type { Resolver } from "../resolve";
import type { Flow } from "./flow";
import type { Store } from "./stores";

/** `self.losses.append(v)`, `self.total += v`, where `__init__` makes a plain list, dictionary or number of it. */
export function growsInSelf({ kind, holder, holderKey }: Store, resolver: Resolver, flow: Flow): boolean {
  if (kind === "subscript" || kind === "handed" || holder.kind !== "Attribute") return false;
  if (holder.object.kind !== "Name" || holder.object.id !== "self") return false;
  const made = flow.definitionsOf(holderKey).filter(({ node }) => isIn("__init__", node));
  return made.length > 0 && made.every(({ value }) => value !== undefined && isEmptyStart(value, resolver));
}

function isEmptyStart(value: Expression, resolver: Resolver): boolean {
  if (/^(List|Dict|Integer|Float)$/.test(value.kind)) return true;
  const name = value.kind === "Call" ? resolver.qualifiedName(value.callee) : undefined;
  return name !== undefined && /^(builtins\.(list|dict)|collections\.defaultdict)$/.test(name);
}

/** `if batch_idx == 0:`, `if len(self.examples) < 8:`: not each time that the method runs. */
export function isConditional(statement: Node, method: FunctionDefinition): boolean {
  for (const at of ancestors(statement)) {
    if (at === method) return false;
    if (at.kind === "If" || at.kind === "Try" || at.kind === "While" || at.kind === "Match") return true;
  }
  return true;
}

/** A base class of the user's own, here or in another file, may empty what it does not show. */
export function hasOtherBases(owner: ClassDefinition, resolver: Resolver): boolean {
  return owner.bases.some((base) => {
    const name = resolver.qualifiedName(base);
    return name === undefined || !/^(lightning|pytorch_lightning)\./.test(name);
  });
}

/** Something in the file empties the attribute, whoever owns it there, or may: it has a second name or is handed on. */
export function isEmptied({ holder, statement }: Store, resolver: Resolver): boolean {
  if (holder.kind !== "Attribute" || resolver.index.callsByName.has("setattr")) return true;
  return (resolver.index.attributesByName.get(holder.attribute.id) ?? []).some((node) => {
    if (node.end <= statement.end && node.start >= statement.start) return false;
    return empties(node, resolver);
  });
}

/** `self.losses.clear()`, `del self.losses[:]`, `self.losses = []` and `module.losses["a"] = []`. */
function empties(attribute: Node, resolver: Resolver): boolean {
  let at: Node = attribute;
  while (at.parent?.kind === "Subscript" && at.parent.object === at) at = at.parent;
  const { parent } = at;
  const statement = enclosingStatement(at);
  if (statement?.kind === "Delete") return true;
  if (parent?.kind === "Attribute" && clearingMethods.has(parent.attribute.id)) return true;
  if (parent?.kind === "Call" && parent.callee !== at)
    return (resolver.functionOf(parent) ?? resolver.imported.functionOf(parent)) !== undefined;
  // `for outputs in (self.logits, self.targets): outputs.clear()`
  if (statement?.kind === "For" && (parent?.kind === "Tuple" || parent?.kind === "List")) return true;
  if (statement?.kind !== "Assign" || isIn("__init__", at)) return false;
  // `outputs = self.outputs`: a second name.
  if (statement.value === at) return true;
  return statement.targets.some((target) => someNode(target, (node) => node === attribute));
}

function isIn(method: string, node: Node): boolean {
  for (const at of ancestors(node)) if (at.kind === "FunctionDefinition") return at.name.id === method;
  return false;
}
