/** `torch.utils.checkpoint`. */
import { tensorsIn } from "../../operators/argument";
import type { Tensor } from "../../tensor";
import { CallArguments } from "../arguments";
import { toArgument } from "../bridge";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { integer } from "../numbers";
import { callInTurn } from "../nn/call";
import { NativeFunction, PartialValue, type Native, type Value } from "../values";
import { isUnknown } from "../../unknown";
import type { Span } from "../../../python/tree";

/** Keyword arguments of `checkpoint` itself; all others go to the function. */
const own = new Set([
  "use_reentrant",
  "preserve_rng_state",
  "context_fn",
  "determinism_check",
  "debug",
  "early_stop",
]);

function tensorsOf(interpreter: Interpreter, values: Iterable<Value>): Tensor[] {
  return [...values].flatMap((value) => tensorsIn(toArgument(interpreter, value)));
}

/** Runs a function as one checkpointed segment: its inputs are kept, the rest is computed again in backward. */
export function runCheckpointed(
  interpreter: Interpreter,
  callee: Value,
  args: CallArguments,
  reentrant: boolean,
  span: Span | undefined,
): Value {
  const { execution } = interpreter;
  if (!execution.gradEnabled) return interpreter.call(callee, args, span);
  const inputs = tensorsOf(interpreter, args.values());
  if (!reentrant) {
    const bound = callee instanceof PartialValue ? tensorsOf(interpreter, callee.args.values()) : [];
    const segment = execution.beginCheckpoint(inputs, bound);
    try {
      return interpreter.call(callee, args, span);
    } finally {
      execution.endCheckpoint(segment);
    }
  }
  const begun = execution.beginReentrantCheckpoint(inputs);
  let result: Value = null;
  try {
    result = interpreter.call(callee, args, span);
    return result;
  } finally {
    execution.endReentrantCheckpoint(begun, tensorsOf(interpreter, [result]));
  }
}

const checkpoint: Native = (interpreter, args, span) => {
  const [callee, ...positional] = args.positional;
  const keywords = new Map([...args.keywords].filter(([name]) => !own.has(name)));
  const flag = args.keywords.get("use_reentrant");
  if (flag !== undefined && isUnknown(flag)) interpreter.note(flag);
  return runCheckpointed(
    interpreter,
    callee ?? null,
    new CallArguments(positional, keywords),
    isReentrant(flag),
    span,
  );
};

/** PyTorch's default is reentrant until `use_reentrant` is given. */
function isReentrant(flag: Value | undefined): boolean {
  return flag === undefined || flag === null || flag === true;
}

/** Splits a sequence of modules into segments; all but the last are checkpointed. */
const sequential: Native = (interpreter, args, span) => {
  const modules = itemsOf(interpreter, args.or(0, "functions", null), span);
  const segments = integer(args.or(1, "segments", null));
  if (isUnknown(modules)) return modules;
  if (segments === undefined || segments < 1) {
    return interpreter.note(
      args.unknown() ?? interpreter.unknown("call", span, { name: "checkpoint_sequential" }),
    );
  }
  const reentrant = isReentrant(args.keywords.get("use_reentrant"));
  const size = Math.floor(modules.length / segments);
  const parts: Value[] = [];
  for (let i = 0; i < segments - 1; i++) {
    const part = modules.slice(i * size, (i + 1) * size);
    const run = new NativeFunction("run_function", (inner, given, at) =>
      callInTurn(inner, part, given.at(0) ?? null, at),
    );
    parts.push(
      new NativeFunction("checkpoint", (inner, given, at) =>
        runCheckpointed(inner, run, given, reentrant, at),
      ),
    );
  }
  const rest = modules.slice(Math.max(0, (segments - 1) * size));
  return callInTurn(interpreter, [...parts, ...rest], args.or(2, "input", null), span);
};

export const checkpointFunctions: Readonly<Record<string, Native>> = {
  "torch.utils.checkpoint.checkpoint": checkpoint,
  "torch.utils.checkpoint.checkpoint_sequential": sequential,
};
