/** `nn.Module` and the classes of `torch.nn` as classes of the evaluator. */
import { message, render } from "../../../messages/message";
import { unknownReasons } from "../../../messages/estimate";
import { Unknown } from "../../unknown";
import { isUnexpectedArgument } from "../../operators/reasons";
import type { ModuleRow } from "../../modules/module";
import { constructModule, forwardModule } from "../../modules/registry";
import { noteResult, owned, toArguments } from "../bridge";
import type { Interpreter } from "../interpreter";
import { rootOf } from "../reasons";
import { withLabels } from "../training/labels";
import { ClassValue, NativeFunction, ObjectValue, type Native } from "../values";
import { containerClasses } from "./containers";
import { moduleHandle } from "./handle";
import { moduleMethods } from "./methods";
import { ownMethodsOf } from "./own-methods";

export function moduleBaseClass(): ClassValue {
  const type = new ClassValue("Module", []);
  type.path = "torch.nn.Module";
  type.addMethods(moduleMethods);
  return type;
}

/** The class at a path of `torch.nn`: a container of the evaluator's own or a row of the table of modules. */
export function torchClass(
  interpreter: Interpreter,
  path: string,
  row: ModuleRow | undefined,
): ClassValue | undefined {
  const container = Object.hasOwn(containerClasses, path) ? containerClasses[path] : undefined;
  if (container === undefined && row === undefined) return undefined;
  const parentPath = container?.extends;
  const parent = parentPath === undefined ? undefined : interpreter.library.classOf(parentPath);
  const name = path.split(".").at(-1) ?? path;
  const type = new ClassValue(name, [parent ?? interpreter.library.moduleClass]);
  type.path = path;
  if (container !== undefined) type.addMethods(container.methods);
  else if (row !== undefined) {
    type.attributes.set("__init__", new NativeFunction("__init__", constructor(path)));
    type.attributes.set("forward", new NativeFunction("forward", forward(path)));
    // It fills parameters that are there already.
    type.attributes.set("reset_parameters", new NativeFunction("reset_parameters", () => null));
  }
  for (const [name, own] of ownMethodsOf(path)) type.attributes.set(name, own);
  return type;
}

function constructor(path: string): Native {
  return (interpreter, args, span) => {
    const object = args.at(0);
    if (!(object instanceof ObjectValue) || object.module === undefined) return null;
    const given = args.withoutFirst();
    if (given.unknownKeywords !== undefined)
      return notUnderstood(interpreter, object, path, given.unknownKeywords, span);
    const [positional, keywords] = toArguments(interpreter, given);
    const fault = interpreter.hide(() =>
      constructModule(interpreter.execution, path, moduleHandle(interpreter, object), positional, keywords),
    );
    if (
      fault !== undefined &&
      interpreter.library.handledTypeErrors > 0 &&
      isUnexpectedArgument(fault.reason)
    )
      return interpreter.raise("TypeError", render(fault.reason, "en"), span);
    return fault === undefined ? null : notUnderstood(interpreter, object, path, fault, span);
  };
}

/** The layer exists, but what it holds is not known. */
function notUnderstood(
  interpreter: Interpreter,
  object: ObjectValue,
  path: string,
  reason: Unknown,
  span: Unknown["span"],
): null {
  const unknown = new Unknown(
    message(unknownReasons.argument, { name: path.replace("torch.", ""), reason: rootOf(reason.reason) }),
    interpreter.callSpan ?? reason.span ?? span,
  );
  object.module?.unknownParts.set("__init__", interpreter.note(unknown));
  return null;
}

function forward(path: string): Native {
  return (interpreter, args, span) => {
    const object = args.at(0);
    if (!(object instanceof ObjectValue)) return interpreter.unknown("call", span, { name: path });
    const broken = object.module?.unknownParts.get("__init__");
    if (broken !== undefined) return broken;
    const given = withLabels(interpreter, path, args.withoutFirst());
    if (given.unknownKeywords !== undefined) return interpreter.note(given.unknownKeywords);
    const [positional, keywords] = toArguments(interpreter, given);
    const handle = moduleHandle(interpreter, object);
    const result = interpreter.hide(() =>
      forwardModule(interpreter.execution, path, handle, positional, keywords, interpreter.location),
    );
    if (result instanceof Unknown) return noteResult(interpreter, result, positional, keywords);
    return owned(interpreter, result);
  };
}
