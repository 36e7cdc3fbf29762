/** Whether a forward runs on batch after batch, or again and again on the same: as a warm-up, for a clock, once an epoch. */
import type { Call, Expression, For, Node, While } from "../../python/tree";
import { enclosingFunction, enclosingLoops, isWithin, someNode } from "../../python/walk";
import { roleKeepingMethods } from "../api";
import { graphKeepingMethods, keepsGraph } from "../api-graph";
import type { Resolver } from "../resolve";
import { callsWithin } from "../resolve-index";
import { atEntry, type Flow } from "./flow";
import { argumentsOf } from "./shapes";
import { isShortLoop } from "./short-loops";

/** So many written-out rounds are a warm-up or a few examples. */
const fewRounds = 10;

/**
 * The loop around the call that gives it something else in each of many rounds. Of the call of a helper only what the helper
 * reads up to the `forward` in it counts: `plot(epoch, images)` gets the same images in each epoch.
 */
export function loopOverData(
  call: Call,
  resolver: Resolver,
  flow: Flow,
  forward: Call = call,
): For | While | undefined {
  const given = forward === call ? argumentsOf(call) : givenUpTo(forward, call, resolver);
  for (const loop of enclosingLoops(call)) {
    if (endsAfterOne(loop) || asksSomebody(loop, resolver) || isShortLoop(loop, resolver, fewRounds))
      continue;
    if (!given.every((argument) => isSameInRounds(argument, loop, resolver, flow))) return loop;
  }
  return undefined;
}

/** The arguments of a helper's call that may reach the forward in it, or may decide about it. */
function givenUpTo(forward: Call, call: Call, resolver: Resolver): readonly Expression[] {
  const helper = enclosingFunction(forward);
  if (helper?.kind !== "FunctionDefinition" || resolver.functionOf(call) !== helper) return argumentsOf(call);
  const unread = helper.parameters.flatMap(({ name }) => {
    const reads = resolver.index.namesById.get(name.id) ?? [];
    const isRead = reads.some((read) => read !== name && read.start < forward.end && isWithin(read, helper));
    return isRead ? [] : (resolver.argumentFor(call, helper, name.id) ?? []);
  });
  return argumentsOf(call).filter((argument) => !unread.includes(argument));
}

/** `for batch in loader: …; break` takes one batch. */
function endsAfterOne({ body }: For | While): boolean {
  return body.some(({ kind }) => kind === "Break" || kind === "Return");
}

/** `while True: text = input("> ")` waits for what somebody types. */
function asksSomebody(loop: For | While, resolver: Resolver): boolean {
  return (resolver.index.callsByName.get("input") ?? []).some(
    (call) => isWithin(call, loop) && resolver.qualifiedName(call.callee) === "builtins.input",
  );
}

/** Nothing in the loop binds what the argument is made of; what an unknown call gives may be the next batch. */
function isSameInRounds(argument: Expression, loop: For | While, resolver: Resolver, flow: Flow): boolean {
  return !someNode(argument, (node) => {
    if (node.kind === "Call") return !movesOnly(node, resolver) && !slicesOnly(node, resolver);
    if (node.kind !== "Name" && node.kind !== "Attribute") return false;
    return (flow.reaching(node) ?? []).some((one) => one !== atEntry && changesIn(loop, one.node));
  });
}

/** `x.to(device)`, `x.unsqueeze(0)`, `torch.cat([x, y])`. */
function movesOnly({ callee }: Call, resolver: Resolver): boolean {
  if (callee.kind !== "Attribute") return false;
  const method = callee.attribute.id;
  if (roleKeepingMethods.has(method) || graphKeepingMethods.has(method)) return true;
  const name = resolver.qualifiedName(callee);
  return name !== undefined && keepsGraph(name);
}

/** A helper of the workspace that gives the same for the same: it calls nothing but what cuts, counts and gathers. */
function slicesOnly(call: Call, resolver: Resolver): boolean {
  const elsewhere = resolver.imported.functionOf(call);
  const target = resolver.functionOf(call) ?? elsewhere?.definition;
  const inside = elsewhere === undefined ? resolver : elsewhere.file.torch.resolve;
  if (target === undefined) return false;
  return ![...callsWithin(inside.index, target)].some(
    (one) =>
      !movesOnly(one, inside) &&
      !/^builtins\.(range|len|enumerate|zip|list|tuple|int|float)$/.test(
        inside.qualifiedName(one.callee) ?? "",
      ) &&
      !(one.callee.kind === "Attribute" && /^(append|extend|size)$/.test(one.callee.attribute.id)),
  );
}

function changesIn(loop: For | While, node: Node): boolean {
  return node === loop || loop.body.some((statement) => isWithin(node, statement));
}
