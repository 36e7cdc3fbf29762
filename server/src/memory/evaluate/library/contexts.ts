/** Contexts that also decorate functions. */
import type { ContextValue } from "../values";
import { FunctionValue, NativeFunction, type Native, type Value } from "../values";

/** `@torch.no_grad()` and `@torch.no_grad`: the function runs in the mode. */
export function withContext(context: ContextValue, wrapped: Value): Value {
  const run: Native = (interpreter, args, span) => {
    context.enter(interpreter);
    try {
      return interpreter.call(wrapped, args, span);
    } finally {
      context.exit(interpreter);
    }
  };
  return new NativeFunction(wrapped instanceof FunctionValue ? wrapped.name : context.name, run, [wrapped]);
}
