/** What a loop runs over: the loader inside `enumerate(tqdm(loader))`, epochs, or steps with `next(iterator)`. */
import type { Call, Expression } from "../../python/tree";
import { someNode, walk } from "../../python/walk";
import type { Certainty, Resolver } from "../resolve";
import { lastNameOf } from "./classify";
import type { LoopNode } from "./event";

export interface LoopSource {
  /** What gives the batches, without its wrappers. */
  readonly loader: Expression;
  readonly certainty: Certainty;
}

const wrappers =
  /^(builtins\.(enumerate|zip|iter|list|reversed|map)|tqdm(\..*)?|itertools\.(islice|cycle|chain|count)|rich\.progress\.track|fastprogress\..*|alive_progress\..*)$/;
const wrapperNames =
  /^(enumerate|zip|iter|tqdm|trange|cycle|islice|track|progress_bar|skip_first_batches|log_every|prefetch\w*|islice|alive_it|notebook_tqdm)$/i;
const loaderName = /load(er)?(_|\d|s?$)|_dl$|^dl$|data_?iter|iterator$|batches$|dataload/i;
const epochName = /epoch/i;
const maximalDepth = 8;

/** The loader of a loop; `undefined` when the loop is not over batches as far as anyone can see. */
export function loaderOf(resolver: Resolver, loop: LoopNode): LoopSource | undefined {
  if (loop.kind === "For") {
    const source = loaderIn(resolver, loop.iterable, 0);
    if (source !== undefined) return source;
  }
  return nextCallIn(resolver, loop);
}

/** `for epoch in range(…)`. */
export function isEpochLoop(loop: LoopNode): boolean {
  const mentions = (expression: Expression): boolean =>
    someNode(
      expression,
      (node) =>
        (node.kind === "Name" && epochName.test(node.id)) ||
        (node.kind === "Attribute" && epochName.test(node.attribute.id)),
    );
  if (loop.kind === "While") return mentions(loop.test);
  return mentions(loop.target) || (lastNameOf(loop.iterable) === "range" && mentions(loop.iterable));
}

function loaderIn(resolver: Resolver, iterable: Expression, depth: number): LoopSource | undefined {
  if (depth > maximalDepth) return undefined;
  const object = resolver.objectOf(iterable);
  if (object?.role === "loader") return { loader: iterable, certainty: object.certainty };
  if (iterable.kind === "Call") {
    for (const argument of wrappedBy(resolver, iterable)) {
      const inner = loaderIn(resolver, argument, depth + 1);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  if (iterable.kind === "Name" || iterable.kind === "Attribute") {
    for (const value of resolver.valuesOf(iterable)) {
      if (value === iterable || value.kind !== "Call") continue;
      const inner = loaderIn(resolver, value, depth + 1);
      if (inner !== undefined) return inner;
    }
  }
  const name = iterable.kind === "Subscript" || iterable.kind === "Name" || iterable.kind === "Attribute";
  if (name && object === undefined && loaderName.test(lastNameOf(iterable) ?? "")) {
    return { loader: iterable, certainty: "name" };
  }
  return undefined;
}

/** The arguments that a wrapping call iterates over. */
function wrappedBy(resolver: Resolver, call: Call): readonly Expression[] {
  const qualified = resolver.qualifiedName(call.callee);
  const name = lastNameOf(call.callee) ?? "";
  const wraps =
    qualified === undefined ? wrapperNames.test(name) : wrappers.test(qualified) || wrapperNames.test(name);
  if (!wraps) return [];
  return call.positional.map((argument) => (argument.kind === "Starred" ? argument.value : argument));
}

/** `batch = next(iterator)` in the loop's body. */
function nextCallIn(resolver: Resolver, loop: LoopNode): LoopSource | undefined {
  let found: LoopSource | undefined;
  for (const statement of loop.body) {
    walk(statement, {
      enter(node) {
        if (found !== undefined || node.kind === "FunctionDefinition" || node.kind === "Lambda") return false;
        if ((node.kind === "For" || node.kind === "While") && isEpochLoop(loop)) return false;
        if (node.kind !== "Call" || lastNameOf(node.callee) !== "next") return;
        const [iterator] = node.positional;
        if (iterator === undefined) return;
        found = loaderIn(resolver, iterator, 0);
        return;
      },
    });
  }
  return found;
}
