/** Building blocks of the module table: most modules keep their arguments and call one function. */
import { Frame } from "../operators/frame";
import type { Argument, Keywords } from "../operators/argument";
import { argumentNotUnderstood } from "../operators/reasons";
import { NotUnderstood, Values } from "../operators/values";
import { Tensor, type Dtype } from "../tensor";
import { Unknown, isUnknown } from "../unknown";
import type { ConstructorContext, ForwardContext, ModuleObject, ModuleRow } from "./module";

/** Factory arguments of modules with parameters. */
export const factory = "device=None, dtype=None";

/** The constructor's arguments with checks. */
export function argumentsOf(context: ConstructorContext): Values {
  return new Values(context.torchClass, context.values, context.rest);
}

/** Puts constructor arguments on the module under their own names. */
export function keepAttributes(context: ConstructorContext, names: readonly string[]): void {
  for (const name of names) context.module.setAttribute(name, context.values[name] ?? null);
}

/** A parameter of the module, or its absence, registered under `name`. */
export function addParameter(
  context: ConstructorContext,
  name: string,
  shape: readonly number[] | undefined,
): void {
  if (shape === undefined) {
    context.module.registerParameter(name, null);
    return;
  }
  const dtype: Dtype = argumentsOf(context).dtype("dtype") ?? "float32";
  context.module.registerParameter(name, context.execution.parameter(shape, dtype));
}

export function addBuffer(
  context: ConstructorContext,
  name: string,
  shape: readonly number[] | undefined,
  dtype: Dtype = "float32",
): void {
  const tensor = shape === undefined ? null : context.execution.buffer(shape, dtype);
  context.module.registerBuffer(name, tensor, true);
}

/** The attribute, null where there is none; an Unknown stops the module. */
export function attribute(module: ModuleObject, name: string): Argument {
  const value = module.getAttribute(name) ?? null;
  if (value instanceof Unknown) throw new NotUnderstood(value.reason);
  return value;
}

export function attributeTensor(module: ModuleObject, name: string): Tensor | undefined {
  const value = attribute(module, name);
  if (value === null) return undefined;
  if (value instanceof Tensor) return value;
  throw new NotUnderstood(argumentNotUnderstood(module.torchClass, name));
}

/** All attributes that are asked for, as values with checks. */
export function attributesOf(module: ModuleObject, names: readonly string[]): Values {
  return new Values(
    module.torchClass,
    Object.fromEntries(names.map((name) => [name, module.getAttribute(name) ?? null])),
    [],
  );
}

/** Forward as the local variables of a Python function: what it makes lives until it returns. */
export class ForwardFrame {
  private readonly frame: Frame;

  constructor(readonly context: ForwardContext) {
    this.frame = new Frame(context.execution);
  }

  call(name: string, positional: readonly Argument[], keywords: Keywords = {}): Argument {
    const result = this.frame.call(name, positional, keywords, this.context.location);
    if (isUnknown(result)) throw new NotUnderstood(result.reason);
    return result;
  }

  op(name: string, positional: readonly Argument[], keywords: Keywords = {}): Tensor {
    return this.tensor(name, this.call(name, positional, keywords));
  }

  /** Calls a child module. */
  child(name: string, positional: readonly Argument[], keywords: Keywords = {}): Argument {
    const module = this.context.module.child(name);
    if (module === undefined) throw new NotUnderstood(argumentNotUnderstood(this.context.torchClass, name));
    return this.module(module, positional, keywords);
  }

  childTensor(name: string, positional: readonly Argument[], keywords: Keywords = {}): Tensor {
    return this.tensor(name, this.child(name, positional, keywords));
  }

  module(module: ModuleObject, positional: readonly Argument[], keywords: Keywords = {}): Argument {
    const result = module.call(positional, keywords);
    if (isUnknown(result)) throw new NotUnderstood(result.reason);
    return this.own(result);
  }

  own(result: Argument): Argument {
    for (const tensor of collect(result)) this.frame.own(tensor);
    return result;
  }

  free(...tensors: readonly (Tensor | undefined)[]): void {
    this.frame.free(...tensors);
  }

  tensor(name: string, value: Argument): Tensor {
    if (value instanceof Tensor) return value;
    if (value instanceof Unknown) throw new NotUnderstood(value.reason);
    throw new NotUnderstood(argumentNotUnderstood(this.context.torchClass, name));
  }

  /** Runs the body and gives back all but its result. */
  static run(context: ForwardContext, body: (frame: ForwardFrame) => Argument): Argument {
    const frame = new ForwardFrame(context);
    let result: Argument = null;
    try {
      result = body(frame);
    } finally {
      frame.frame.end(result);
    }
    return result;
  }
}

function collect(value: Argument): Tensor[] {
  if (value instanceof Tensor) return [value];
  if (Array.isArray(value)) return (value as readonly Argument[]).flatMap(collect);
  return [];
}

/** A module without parameters that calls one function with its attributes as keywords. */
export interface FunctionalModule {
  /** Without `torch.nn.`. */
  readonly name: string;
  readonly constructorParameters?: string;
  readonly forwardParameters?: string;
  /** Qualified name of the function. */
  readonly function: string;
  /** Keyword of the function → attribute of the module; a plain list where both have the same name. */
  readonly keywords?: readonly string[] | Readonly<Record<string, string>>;
  /** Whether the function takes `training`. */
  readonly training?: boolean;
  /** Further keywords of the function. */
  readonly constants?: Keywords;
  /** Constructor arguments that become buffers. */
  readonly buffers?: readonly string[];
}

export function functionalModule(row: FunctionalModule): ModuleRow {
  const parameters = row.constructorParameters ?? "";
  const forwardParameters = row.forwardParameters ?? "input";
  const parts = forwardParameters.split(",").map((part) => part.trim());
  const inputs = parts.filter((part) => !part.includes("="));
  const optional = parts.filter((part) => part.includes("=")).map((part) => part.split("=")[0] ?? "");
  const keywords: readonly (readonly [string, string])[] = isList(row.keywords)
    ? row.keywords.map((name) => [name, name] as const)
    : Object.entries(row.keywords ?? {});
  return {
    name: `torch.nn.${row.name}`,
    constructorParameters: parameters,
    construct: (context) => {
      keepAttributes(context, Object.keys(context.values));
      for (const name of row.buffers ?? []) {
        const value = context.values[name] ?? null;
        if (value instanceof Tensor) context.execution.asBuffer(value);
        if (value === null || value instanceof Tensor) context.module.registerBuffer(name, value, true);
      }
      return undefined;
    },
    forwardParameters,
    forward: ({ execution, module, values, location }) => {
      const given = Object.fromEntries([
        ...keywords.map(([to, from]) => [to, attribute(module, from)] as const),
        ...optional.map((name) => [name, values[name] ?? null] as const),
      ]);
      return execution.call(
        row.function,
        inputs.map((name) => values[name] ?? null),
        { ...given, ...row.constants, ...(row.training === true ? { training: module.training } : {}) },
        location,
      );
    },
  };
}

function isList(value: FunctionalModule["keywords"]): value is readonly string[] {
  return Array.isArray(value);
}
