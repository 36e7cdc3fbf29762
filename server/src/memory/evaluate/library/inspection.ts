/** `inspect`: what a callable takes. https://docs.python.org/3/library/inspect.html */
import type { Parameter } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { dictOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { argumentNames } from "../training/groups";
import {
  BoundMethod,
  ClassValue,
  FileModule,
  FunctionValue,
  LibraryName,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PartialValue,
  type Native,
  type Value,
} from "../values";
import { libraryClass } from "./library-class";

/** `_ParameterKind`, an IntEnum, in its order. */
const kinds = ["POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"];

const kindOf: Readonly<Record<Parameter["parameterKind"], number>> = {
  "positional-only": 0,
  normal: 1,
  args: 2,
  "keyword-only": 3,
  kwargs: 4,
};

const empty = "inspect._empty";

const parameterClass = libraryClass("Parameter", {});
for (const [value, name] of kinds.entries()) parameterClass.attributes.set(name, value);
parameterClass.attributes.set("empty", new LibraryName(empty));

const signatureClass = libraryClass("Signature", {});
signatureClass.attributes.set("empty", new LibraryName(empty));

interface Taken {
  readonly name: string;
  readonly kind: number;
  readonly default: Value | undefined;
}

/** Wrappers around wrappers that are followed. */
const deepest = 20;

/** The parameters of a callable in order; undefined where they are not known. */
function parametersOf(callee: Value, depth = 0): Taken[] | undefined {
  if (depth > deepest) return undefined;
  if (callee instanceof FunctionValue) {
    const wrapped = callee.attributes.get("__wrapped__");
    if (wrapped !== undefined) return parametersOf(wrapped, depth + 1);
    return callee.node.parameters.map((one) => ({
      name: one.name.id,
      kind: kindOf[one.parameterKind],
      default: callee.defaults.get(one.name.id),
    }));
  }
  if (callee instanceof MethodWrapper) return parametersOf(callee.wrapped, depth + 1);
  if (callee instanceof BoundMethod) return parametersOf(callee.method, depth + 1)?.slice(1);
  if (callee instanceof ClassValue) return parametersOfClass(callee, depth + 1);
  if (callee instanceof ObjectValue) {
    const name = callee.module === undefined ? "__call__" : "forward";
    return parametersOf(callee.type.attribute(name) ?? null, depth + 1)?.slice(1);
  }
  return callee instanceof PartialValue ? parametersOfPartial(callee, depth + 1) : undefined;
}

function parametersOfClass(type: ClassValue, depth: number): Taken[] | undefined {
  const init = type.attribute("__init__");
  if (init instanceof FunctionValue) return parametersOf(init, depth)?.slice(1);
  if (type.path?.startsWith("torch.optim.") === true)
    return argumentNames(type.name).map((name) => ({ name, kind: 1, default: null }));
  const fields = type.find((one) => one.fields);
  return fields
    ?.filter((field) => field.inInit)
    .map((field) => ({ name: field.name, kind: 1, default: field.default }));
}

/** Positional arguments that are given are gone; a keyword that is given makes what follows keyword-only. */
function parametersOfPartial(callee: PartialValue, depth: number): Taken[] | undefined {
  const { positional, keywords, unknownKeywords } = callee.args;
  if (unknownKeywords !== undefined) return undefined;
  const left = parametersOf(callee.callee, depth)?.slice(positional.length);
  const first = left?.findIndex(({ name }) => keywords.has(name)) ?? -1;
  return left?.map((one, i) => ({
    ...one,
    kind: first >= 0 && i >= first && one.kind === 1 ? 3 : one.kind,
    default: keywords.get(one.name) ?? one.default,
  }));
}

function parameterObject({ name, kind, default: otherwise }: Taken): ObjectValue {
  const object = new ObjectValue(parameterClass);
  object.attributes.set("name", name);
  object.attributes.set("kind", kind);
  object.attributes.set("default", otherwise === undefined ? new LibraryName(empty) : otherwise);
  object.attributes.set("annotation", new LibraryName(empty));
  return object;
}

const signature: Native = (interpreter, args, span) => {
  const callee = args.get(0, "obj") ?? null;
  const parameters = isUnknown(callee) ? undefined : parametersOf(callee);
  if (parameters === undefined)
    return args.unknown() ?? interpreter.unknown("call", span, { name: "inspect.signature" });
  const object = new ObjectValue(signatureClass);
  object.attributes.set(
    "parameters",
    dictOf(parameters.map((one) => [one.name, parameterObject(one)] as const)),
  );
  return object;
};

/** `inspect.is…(value)`. */
function question(answer: (value: Value) => boolean): Native {
  return (_, args) => args.unknown() ?? answer(args.at(0) ?? null);
}

export const inspectionFunctions: Readonly<Record<string, Native>> = {
  "inspect.signature": signature,
  "inspect.isfunction": question((value) => value instanceof FunctionValue),
  "inspect.isclass": question((value) => value instanceof ClassValue),
  "inspect.ismethod": question((value) => value instanceof BoundMethod),
  "inspect.ismodule": question((value) => value instanceof FileModule),
  "inspect.isbuiltin": question((value) => value instanceof NativeFunction),
};

export const inspectionConstants: Readonly<Record<string, (interpreter: Interpreter) => Value>> = {
  "inspect.Parameter": () => parameterClass,
  "inspect.Signature": () => signatureClass,
  "sys.modules": (interpreter) => interpreter.files.modules,
};
