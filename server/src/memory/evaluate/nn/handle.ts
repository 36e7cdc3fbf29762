/** A module of the evaluator as the table of `torch.nn` modules sees it. */
import type { Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import type { ModuleObject } from "../../modules/module";
import type { Argument, Keywords } from "../../operators/argument";
import { fromArgument, fromArguments, ownedResult, toArgument } from "../bridge";
import { instantiate } from "../classes";
import type { Interpreter } from "../interpreter";
import { ObjectValue } from "../values";
import { attach, attached } from "./attach";
import { readParametrized } from "./parametrize";
import { deepCopy } from "../copying";

export function moduleHandle(interpreter: Interpreter, object: ObjectValue): ModuleObject {
  const { module } = object;
  if (module === undefined) return new ModuleHandle(interpreter, object);
  return (module.handle ??= new ModuleHandle(interpreter, object));
}

/** The object behind a handle. */
export function objectOf(module: ModuleObject): ObjectValue | undefined {
  return module instanceof ModuleHandle ? module.object : undefined;
}

class ModuleHandle implements ModuleObject {
  readonly kind = "module";

  constructor(
    private readonly interpreter: Interpreter,
    readonly object: ObjectValue,
  ) {}

  get torchClass(): string {
    return this.object.type.find((type) => type.path) ?? "torch.nn.Module";
  }

  get training(): boolean {
    return this.object.module?.training ?? true;
  }

  getAttribute(name: string): Argument | undefined {
    const { interpreter, object } = this;
    let value = object.attributes.get(name);
    if (value === undefined) value = attached(object, name);
    if (value === undefined) value = readParametrized(interpreter, object, name, interpreter.callSpan);
    return value === undefined ? undefined : toArgument(this.interpreter, value);
  }

  setAttribute(name: string, value: Argument): void {
    const own = fromArgument(this.interpreter, value);
    const before = this.object.attributes.get(name);
    this.interpreter.references.adopt(this.object, own);
    this.object.attributes.set(name, own);
    if (before !== undefined) this.interpreter.references.disown(this.object, before);
  }

  registerParameter(name: string, tensor: Tensor | null): void {
    if (tensor !== null) this.interpreter.parameterTensors.add(tensor);
    attach(this.interpreter, this.object, "parameters", name, tensor);
  }

  registerBuffer(name: string, tensor: Tensor | null): void {
    attach(this.interpreter, this.object, "buffers", name, tensor);
  }

  addModule(name: string, module: ModuleObject): void {
    const object = objectOf(module);
    if (object !== undefined) attach(this.interpreter, this.object, "modules", name, object);
  }

  child(name: string): ModuleObject | undefined {
    const object = this.object.module?.modules.get(name);
    return object === undefined || object === null ? undefined : moduleHandle(this.interpreter, object);
  }

  children(): readonly (readonly [string, ModuleObject])[] {
    const found: [string, ModuleObject][] = [];
    for (const [name, object] of this.object.module?.modules ?? []) {
      if (object !== null) found.push([name, moduleHandle(this.interpreter, object)]);
    }
    return found;
  }

  create(torchClass: string, positional: readonly Argument[], keywords: Keywords): ModuleObject | Unknown {
    const { interpreter } = this;
    const type = interpreter.library.classOf(torchClass);
    if (type === undefined) return interpreter.unknown("call", interpreter.callSpan, { name: torchClass });
    const args = fromArguments(interpreter, positional, keywords);
    const made = interpreter.hide(() => instantiate(interpreter, type, args, interpreter.callSpan));
    if (made instanceof ObjectValue && made.module !== undefined) return moduleHandle(interpreter, made);
    return isUnknown(made)
      ? made
      : interpreter.unknown("notModule", interpreter.callSpan, { name: torchClass });
  }

  copy(): ModuleObject | Unknown {
    const copied = deepCopy(this.interpreter, this.object);
    return copied instanceof ObjectValue ? moduleHandle(this.interpreter, copied) : (copied as Unknown);
  }

  call(positional: readonly Argument[], keywords: Keywords): Argument {
    return ownedResult(this.interpreter, this.object, positional, keywords);
  }
}
