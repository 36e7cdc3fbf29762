/** Classes of the evaluated code: made from their definitions, instantiated. */
import type { ClassDefinition, Span, Statement } from "../../python/tree";
import { isUnknown } from "../unknown";
import { CallArguments } from "./arguments";
import { Frame } from "./frame";
import { claimMethods, decorate, textOf } from "./functions";
import { finishEnum } from "./library/enums";
import { finishNamedTuple } from "./library/namedtuples";
import type { Interpreter } from "./interpreter";
import { ModuleState } from "./nn/state";
import { callMethod } from "./overloads";
import { ClassValue, LibraryName, ObjectValue, TupleValue, type Value } from "./values";

export function makeClass(interpreter: Interpreter, node: ClassDefinition): Value {
  const bases: ClassValue[] = [];
  let unknownBase;
  for (const expression of node.bases) {
    const base = interpreter.evaluate(expression);
    if (base instanceof ClassValue) bases.push(base);
    else if (base instanceof LibraryName) {
      const type = interpreter.library.baseClass(base.path);
      if (type instanceof ClassValue) bases.push(type);
      else if (type === undefined)
        unknownBase ??= interpreter.unknown("base", expression, { name: base.path });
    } else unknownBase ??= interpreter.unknown("base", expression, { name: textOf(expression) });
  }
  const type = new ClassValue(node.name.id, bases, node);
  type.unknownBase = unknownBase;
  type.isImported = interpreter.frame.file !== undefined;
  type.isEnum = bases.some((base) => base.isEnum);
  runClassBody(interpreter, type, node.body);
  claimMethods(type);
  if (type.isEnum) finishEnum(interpreter, type);
  if (bases.some((base) => base === interpreter.library.namedTuple)) finishNamedTuple(type, node);
  for (const base of type.mro.slice(1)) {
    const hook = base.attributes.get("__init_subclass__");
    if (hook === undefined) continue;
    interpreter.call(hook, noArgumentsFor(type), node);
    break;
  }
  return decorate(interpreter, node.decorators, type);
}

function noArgumentsFor(type: ClassValue): CallArguments {
  return new CallArguments([type]);
}

function runClassBody(interpreter: Interpreter, type: ClassValue, body: readonly Statement[]): void {
  const outer = interpreter.frame;
  const frame = new Frame("class", outer, undefined);
  interpreter.references.retain(frame);
  interpreter.frame = frame;
  try {
    interpreter.execute(body);
    for (const [name, value] of frame.variables) {
      interpreter.references.adopt(type, value);
      type.attributes.set(name, value);
    }
  } finally {
    interpreter.frame = outer;
    frame.leave(interpreter.references);
  }
}

/** Whether instances are `nn.Module`s. */
export function isModuleClass(interpreter: Interpreter, type: ClassValue): boolean {
  return type.isSubclassOf(interpreter.library.moduleClass);
}

/** Steps that making a module counts for. */
const moduleCost = 25;

export function instantiate(
  interpreter: Interpreter,
  type: ClassValue,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const construct = type.find((one) => one.construct);
  if (construct !== undefined) return construct(interpreter, type, args, span);
  const object = new ObjectValue(type);
  object.span = interpreter.ownSpan(span);
  interpreter.references.keep(object);
  if (isModuleClass(interpreter, type)) {
    interpreter.tick(moduleCost);
    object.module = new ModuleState();
  }
  const initialized = callMethod(interpreter, object, "__init__", args, span);
  if (initialized !== undefined && isUnknown(initialized)) return failed(interpreter, object, initialized);
  if (initialized === undefined && object.type.isSubclassOf(interpreter.library.exception("BaseException"))) {
    object.payload = args.at(0) ?? "";
  }
  return object;
}

/** A module whose constructor could not be followed to its end keeps what it has; what is missing is said. */
function failed(interpreter: Interpreter, object: ObjectValue, reason: Value): Value {
  if (!isUnknown(reason)) return object;
  interpreter.note(reason);
  if (object.module === undefined) return reason;
  object.module.unknownParts.set("__init__", reason);
  return object;
}

const namedTypes = new Map<string, ClassValue>();

/** The type of a tuple whose entries have names, as `torch.max(x, 1)` gives. */
export function namedTupleType(names: readonly string[]): ClassValue {
  const key = names.join();
  let type = namedTypes.get(key);
  if (type === undefined) {
    type = new ClassValue("namedtuple", []);
    type.fields = names.map((name) => ({ name, default: undefined, factory: undefined, inInit: true }));
    namedTypes.set(key, type);
  }
  return type;
}

/** Whether a value is an instance of a class; undefined when it is not known. */
export function isInstance(interpreter: Interpreter, value: Value, type: Value): boolean | undefined {
  if (isUnknown(value) || isUnknown(type)) return undefined;
  if (type instanceof TupleValue) {
    let answer: boolean | undefined = false;
    for (const one of type.items) {
      const is = isInstance(interpreter, value, one);
      if (is === true) return true;
      if (is === undefined) answer = undefined;
    }
    return answer;
  }
  return interpreter.library.isInstance(value, type);
}
