/** Calling a module: `nn.Module.__call__`. */
import type { Span } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { runCheckpointed } from "../library/checkpoint";
import { placeModule } from "../training/host";
import { useData } from "../training/placement";
import { runHooks, runPreHooks } from "./hooks";
import { FunctionValue, type ObjectValue, type Value } from "../values";

/** Runs `forward`; the caller keeps the arguments alive meanwhile, as `__call__`'s `*args` does. */
export function callModule(
  interpreter: Interpreter,
  object: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const own = object.type.attribute("__call__");
  if (own instanceof FunctionValue) return interpreter.call(own, args.withReceiver(object), span);
  return runForward(interpreter, object, args, span);
}

export function runForward(
  interpreter: Interpreter,
  object: ObjectValue,
  own: CallArguments,
  span: Span | undefined,
): Value {
  if (interpreter.skipForward) return interpreter.unknown("unsupported", span, { what: "forward" });
  const { training } = interpreter;
  const args = training?.forwards === 0 ? (training.given?.argumentsFor(object, own) ?? own) : own;
  if (object.module?.hasBackwardHooks === true) interpreter.note(interpreter.unknown("hooks", span));
  const outer = interpreter.modulePath;
  interpreter.modulePath = interpreter.modulePaths.get(object) ?? outer;
  const savedBefore = interpreter.execution.savedBytes;
  if (training?.computesOnHost(object, args) === true) placeModule(interpreter, object, "host");
  const isOnHost = training !== undefined && interpreter.onHost.has(object);
  if (training !== undefined && !isOnHost) useData(interpreter, args.values());
  const result =
    training === undefined
      ? hooked(interpreter, object, args, span)
      : training.inForward(object, () =>
          isOnHost
            ? interpreter.execution.inHostMemory(() => hooked(interpreter, object, args, span))
            : hooked(interpreter, object, args, span),
        );
  interpreter.modulePath = outer;
  interpreter.recorder?.addModule(object, result, interpreter.execution.savedBytes - savedBefore);
  return result;
}

const noState = { preHooks: [], hooks: [] };

/** `forward` between its hooks. */
function hooked(
  interpreter: Interpreter,
  object: ObjectValue,
  given: CallArguments,
  span: Span | undefined,
): Value {
  const { preHooks, hooks } = object.module ?? noState;
  const args = preHooks.length === 0 ? given : runPreHooks(interpreter, object, given, span);
  const forward = getAttribute(interpreter, object, "forward", span);
  if (isUnknown(forward)) return interpreter.note(forward);
  const result = interpreter.checkpointed.has(object)
    ? checkpointed(interpreter, forward, args, span)
    : interpreter.call(forward, args, span);
  return hooks.length === 0 ? result : runHooks(interpreter, object, args, result, span);
}

/** A module that is to run as a checkpointed segment; checkpoints inside it are left out. */
function checkpointed(
  interpreter: Interpreter,
  forward: Value,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const outer = interpreter.checkpointed;
  interpreter.checkpointed = new Set();
  try {
    return runCheckpointed(interpreter, forward, args, false, span);
  } finally {
    interpreter.checkpointed = outer;
  }
}

/** Calls the modules one after the other, each with what the one before gave; that one is let go then. */
export function callInTurn(
  interpreter: Interpreter,
  modules: Iterable<Value>,
  first: Value,
  span: Span | undefined,
): Value {
  const { references } = interpreter;
  const mark = references.mark();
  let current = first;
  for (const module of modules) {
    interpreter.tick();
    current = interpreter.call(module, new CallArguments([current]), span);
    references.settle(mark, current);
  }
  return current;
}
