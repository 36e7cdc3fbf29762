/** Forward hooks: what `nn.Module.__call__` runs around `forward`. */
import type { Span } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { dictOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { ClassValue, DictValue, NativeFunction, ObjectValue, TupleValue, type Value } from "../values";
import type { Hook } from "./state";

const handleClass = new ClassValue("RemovableHandle", []);

/** `module.register_forward_hook(…)`: the answer is the handle whose `remove()` takes the hook away. */
export function addHook(
  interpreter: Interpreter,
  object: ObjectValue,
  place: "hooks" | "preHooks",
  args: CallArguments,
): Value {
  const callee = args.at(0);
  const hooks = object.module?.[place];
  if (callee === undefined || hooks === undefined) return null;
  const hook: Hook = { callee, takesKeywords: args.keywords.get("with_kwargs") === true };
  interpreter.references.adopt(object, callee);
  if (args.keywords.get("prepend") === true) hooks.unshift(hook);
  else hooks.push(hook);
  const handle = new ObjectValue(handleClass);
  handle.attributes.set(
    "remove",
    new NativeFunction("remove", (inner) => {
      const at = hooks.indexOf(hook);
      if (at >= 0) hooks.splice(at, 1);
      if (at >= 0) inner.references.disown(object, callee);
      return null;
    }),
  );
  return interpreter.references.keep(handle);
}

/** The arguments of the forward after the hooks that come before it. */
export function runPreHooks(
  interpreter: Interpreter,
  object: ObjectValue,
  args: CallArguments,
  span: Span | undefined,
): CallArguments {
  let current = args;
  for (const { callee, takesKeywords } of [...(object.module?.preHooks ?? [])]) {
    const given: Value[] = [object, new TupleValue(current.positional)];
    if (takesKeywords) given.push(dictOf(current.keywords));
    const mark = interpreter.references.mark();
    const answer = interpreter.call(callee, new CallArguments(given), span);
    interpreter.references.settle(mark, answer);
    if (isUnknown(answer)) interpreter.note(answer);
    else if (answer !== null) current = replaced(current, answer, takesKeywords);
  }
  return current;
}

/** A tuple is all positional arguments, anything else the only one; a hook that takes keywords gives both kinds. */
function replaced(args: CallArguments, answer: Value, takesKeywords: boolean): CallArguments {
  const items = answer instanceof TupleValue ? answer.items : [answer];
  const [positional, keywords] = items;
  if (!takesKeywords || !(positional instanceof TupleValue) || !(keywords instanceof DictValue))
    return new CallArguments(items, args.keywords, args.unknownKeywords);
  const named = new Map<string, Value>();
  for (const { key, value } of keywords.entries.values()) if (typeof key === "string") named.set(key, value);
  return new CallArguments(positional.items, named, args.unknownKeywords);
}

/** The result of the forward after the hooks that come behind it. */
export function runHooks(
  interpreter: Interpreter,
  object: ObjectValue,
  args: CallArguments,
  result: Value,
  span: Span | undefined,
): Value {
  let current = result;
  for (const { callee, takesKeywords } of [...(object.module?.hooks ?? [])]) {
    const given: Value[] = [object, new TupleValue(args.positional)];
    if (takesKeywords) given.push(dictOf(args.keywords));
    const mark = interpreter.references.mark();
    const answer = interpreter.call(callee, new CallArguments([...given, current]), span);
    interpreter.references.settle(mark, answer);
    if (isUnknown(answer)) interpreter.note(answer);
    else if (answer !== null) current = answer;
  }
  return current;
}
