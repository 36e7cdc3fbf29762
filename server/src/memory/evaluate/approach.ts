/**
 * Walks to a call deep in a script, as a run of it would: from the module into the functions on the way, everything before
 * the place run in each, every loop around it at its first item. What it is called with there is what the model gets.
 */
import type { Module, Node } from "../../python/tree";
import { isWithin } from "../../python/walk";
import { Execution } from "../tape";
import type { Unknown } from "../unknown";
import type { CallArguments } from "./arguments";
import { evaluateArguments } from "./calls";
import type { BatchSampler } from "./interpreter";
import { Program } from "./program";
import { Walk, type AtTheEnd, type WayToCall } from "./way";
import type { World } from "./world";

/** What the call at the end of the way is given, unless something else is asked; Unknown where that cannot be told. */
export function argumentsAt(
  module: Module,
  way: WayToCall,
  sampler: BatchSampler,
  world: World,
  asked: AtTheEnd = evaluateArguments,
): CallArguments | Unknown {
  const first = way.through[0]?.call ?? way.call;
  const execution = new Execution({ device: "cuda", attention: "auto" });
  const begun = way.root === undefined ? moduleBefore(module, first) : module;
  const program = new Program(execution, begun, undefined, world);
  return program.interpreter.guard(() => new Walk(program.interpreter, sampler, asked).to(way));
}

/** The module up to the statement that a node stands in. */
export function moduleBefore(module: Module, node: Node): Module {
  const index = module.body.findIndex((statement) => isWithin(node, statement));
  return { ...module, body: module.body.slice(0, Math.max(0, index)) };
}
