/** What the evaluator knows of Python's builtins and of libraries, by dotted path. */
import type { Span } from "../../../python/tree";
import { findModule } from "../../modules/registry";
import type { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import { builtinExceptions } from "../builtins/exceptions";
import { builtinFunctions } from "../builtins/functions";
import { builtinTypes } from "../builtins/types";
import { callUnknown } from "../calls";
import { instantiate } from "../classes";
import { storeAttribute } from "../attributes";
import type { Frame } from "../frame";
import { dictOf, enumMembers } from "../iteration";
import type { Interpreter } from "../interpreter";
import { keyText } from "../operations";
import { moduleBaseClass, torchClass } from "../nn/classes";
import type { DictValue } from "../values";
import {
  ClassValue,
  ellipsis,
  LibraryName,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  type Native,
  type Value,
} from "../values";
import { functionClass } from "./autograd-function";
import { addNodeMethods } from "./configuration-files";
import { attributeDictClass } from "./configuration-values";
import { enumClass } from "./enums";
import { distributionAt } from "./distributions";
import { lightningClass } from "./lightning";
import { modelOutputClass } from "./model-outputs";
import { pretrainedClass } from "./pretrained";
import { interfaceClass } from "./pretrained-forward";
import {
  builtinDecorators,
  constants,
  functions,
  knownPackages,
  modelLibraries,
  moduleBases,
  transparentBases,
} from "./tables";
import { isScheduler, optimizerClass, schedulerFunction } from "./optimizers";
import { isInstanceOf } from "./types";

/** From where PyTorch keeps a thing to the name it is known by. */
function canonical(path: string): string {
  if (!path.startsWith("torch.")) return path;
  return path
    .replace(/^torch\.nn\.modules\.(?:\w+\.)?([A-Z]\w*)$/, "torch.nn.$1")
    .replace(/^torch\.nn\.parameter\./, "torch.nn.")
    .replace(/^torch\.cuda\.(\w+Tensor)$/, "torch.$1")
    .replace(/^torch\.functional\./, "torch.")
    .replace(/^torch\.nn\.parallel\.(?:distributed|data_parallel)\.([A-Z]\w*)$/, "torch.nn.parallel.$1")
    .replace(/^torch\.autograd\.function\./, "torch.autograd.")
    .replace(/^torch\.cuda\.amp\.autocast_mode\./, "torch.cuda.amp.")
    .replace(/^torch\.autograd\.grad_mode\./, "torch.")
    .replace(/^torch\.autograd\.(no_grad|enable_grad|set_grad_enabled|inference_mode)$/, "torch.$1")
    .replace(/^torch\.distributions\.\w+\.([A-Z]\w*|kl_divergence)$/, "torch.distributions.$1")
    .replace(/^torch\._C\._nn\./, "torch.nn.functional.");
}

function lastPart(path: string): string {
  return path.split(".").at(-1) ?? path;
}

function rootOf(path: string): string {
  return path.split(".")[0] ?? path;
}

/** The operator behind a path: `torch.Tensor.view` is the method `Tensor.view`. */
function operatorName(path: string): string {
  return path.startsWith("torch.Tensor.") ? path.slice("torch.".length) : path;
}

export class Library {
  /** Nesting of `try` blocks that handle ImportError. */
  optionalImports = 0;
  /** Nesting of `try` blocks that handle TypeError. */
  handledTypeErrors = 0;
  readonly types = builtinTypes();
  readonly moduleClass: ClassValue;
  readonly namedTuple = new ClassValue("NamedTuple", []);
  private readonly exceptions = builtinExceptions();
  private readonly classes = new Map<string, ClassValue | undefined>();
  private readonly natives = new Map<string, NativeFunction>();
  /** Canonical paths by path, and by module and name: putting strings together costs more than looking one up. */
  private readonly paths = new Map<string, string>();
  private readonly members = new Map<string, Map<string, string>>();

  constructor(private readonly interpreter: Interpreter) {
    this.moduleClass = moduleBaseClass();
    this.classes.set("torch.nn.Module", this.moduleClass);
    this.classes.set("typing.NamedTuple", this.namedTuple);
    for (const name of ["Function", "InplaceFunction"])
      this.classes.set(`torch.autograd.${name}`, functionClass(name));
    const dict = this.types.get("dict");
    for (const path of ["easydict.EasyDict", "munch.Munch", "addict.Dict", "attrdict.AttrDict"])
      this.classes.set(path, attributeDictClass(lastPart(path), dict));
    this.classes.set("omegaconf.DictConfig", attributeDictClass("DictConfig", undefined));
    const node = attributeDictClass("CfgNode", dict);
    addNodeMethods(node);
    for (const path of ["yacs.config.CfgNode", "fvcore.common.config.CfgNode"]) this.classes.set(path, node);
    for (const name of ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"])
      this.classes.set(`enum.${name}`, enumClass(name));
  }

  /** A name that nobody in the file binds. */
  builtin(name: string): Value | undefined {
    const type = this.types.get(name) ?? this.exceptions.get(name);
    if (type !== undefined) return type;
    if (Object.hasOwn(builtinFunctions, name)) return this.native(name, builtinFunctions[name]);
    if (Object.hasOwn(builtinDecorators, name)) return this.native(name, builtinDecorators[name]);
    if (name === "type") return this.native("type", typeFunction);
    if (name === "__name__") return this.interpreter.frame.root.moduleName;
    if (name === "__file__") return this.interpreter.frame.root.file ?? "model.py";
    if (name === "NotImplemented" || name === "Ellipsis") return ellipsis;
    return name === "__debug__" ? true : undefined;
  }

  private native(name: string, call: Native | undefined): NativeFunction | undefined {
    if (call === undefined) return undefined;
    let made = this.natives.get(name);
    if (made === undefined) {
      made = new NativeFunction(name, call);
      this.natives.set(name, made);
    }
    return made;
  }

  exception(name: string): ClassValue {
    const type = this.exceptions.get(name) ?? this.exceptions.get("Exception");
    if (type === undefined) throw new Error("the table of exceptions is empty");
    return type;
  }

  isKnownPackage(root: string): boolean {
    return knownPackages.has(root);
  }

  /** What `from module import *` brings: the module's names are looked up when they are used. */
  starExports(module: string): [string, Value][] {
    const prefix = `${module}.`;
    const names = [...Object.keys(functions), ...Object.keys(constants)];
    const direct = names.filter(
      (name) => name.startsWith(prefix) && !name.slice(prefix.length).includes("."),
    );
    const found: [string, Value][] = [];
    for (const full of direct) {
      const value = this.attribute(module, full.slice(prefix.length));
      if (value !== undefined) found.push([full.slice(prefix.length), value]);
    }
    return found;
  }

  /** `module.name`; a LibraryName of its own where nothing more is known. */
  attribute(module: string, name: string): Value | undefined {
    if (name === "__name__") return module.split(".").at(-1) ?? module;
    const path = this.member(module, name);
    const constant = Object.hasOwn(constants, path) ? constants[path] : undefined;
    if (constant !== undefined) return constant(this.interpreter);
    return this.classOf(path) ?? new LibraryName(path);
  }

  private canonical(path: string): string {
    let known = this.paths.get(path);
    if (known === undefined) this.paths.set(path, (known = canonical(path)));
    return known;
  }

  private member(module: string, name: string): string {
    let members = this.members.get(module);
    if (members === undefined) this.members.set(module, (members = new Map<string, string>()));
    let path = members.get(name);
    if (path === undefined) members.set(name, (path = this.canonical(`${module}.${name}`)));
    return path;
  }

  /** `hasattr(module, name)`. */
  has(module: string, name: string, span: Span | undefined): Value {
    const path = this.member(module, name);
    if (this.isCallable(path) || Object.hasOwn(constants, path) || this.classOf(path) !== undefined)
      return true;
    return this.interpreter.unknown("attribute", span, { name, type: module });
  }

  isCallable(path: string): boolean {
    return Object.hasOwn(functions, path) || this.interpreter.execution.supports(operatorName(path));
  }

  /** The class at a path, e.g. `torch.nn.Linear`. */
  classOf(path: string): ClassValue | undefined {
    if (this.classes.has(path)) return this.classes.get(path);
    const type = this.makeClassOf(path);
    this.classes.set(path, type);
    return type;
  }

  private makeClassOf(path: string): ClassValue | undefined {
    const ofLightning = lightningClass(path, this.moduleClass);
    if (ofLightning !== undefined) return ofLightning;
    const pretrained =
      pretrainedClass(path, this.moduleClass) ?? modelOutputClass(path) ?? interfaceClass(path);
    if (pretrained !== undefined) return pretrained;
    if (moduleBases.has(path)) {
      const type = new ClassValue(path.split(".").at(-1) ?? path, [this.moduleClass]);
      type.unknownBase = undefined;
      return type;
    }
    const distribution = distributionAt(path, (base) => this.classOf(base));
    if (distribution !== undefined) return distribution;
    const builtin = path.startsWith("builtins.") ? path.slice("builtins.".length) : undefined;
    if (builtin !== undefined) return this.types.get(builtin);
    if (path === "collections.OrderedDict" || path === "typing.OrderedDict") return this.orderedDict();
    return optimizerClass(this.interpreter, path) ?? torchClass(this.interpreter, path, findModule(path));
  }

  private orderedDict(): ClassValue | undefined {
    return this.types.get("dict");
  }

  /** A library class as a base: null for bases that add nothing, undefined for those that are not known. */
  baseClass(path: string): ClassValue | null | undefined {
    const full = this.canonical(path);
    return this.classOf(full) ?? (transparentBases.has(full) ? null : undefined);
  }

  call(path: string, args: CallArguments, span: Span | undefined): Value {
    const full = this.canonical(path);
    const type = this.classOf(full);
    if (type !== undefined) return instantiate(this.interpreter, type, args, span);
    const native = Object.hasOwn(functions, full) ? functions[full] : undefined;
    if (native !== undefined) return native(this.interpreter, args, span);
    if (isScheduler(full)) return schedulerFunction(this.interpreter, args, span);
    if (full.startsWith("builtins.")) {
      const builtin = builtinFunctions[full.slice("builtins.".length)];
      if (builtin !== undefined) return builtin(this.interpreter, args, span);
    }
    if (this.interpreter.execution.supports(operatorName(full))) {
      return runOperator(this.interpreter, operatorName(full), args);
    }
    const reason = this.isMissing(full)
      ? this.interpreter.unknown("notInstalled", span, { library: rootOf(full), name: path })
      : this.interpreter.unknown("call", span, { name: path });
    return callUnknown(this.interpreter, reason, args.positional, span);
  }

  /** A model of a library that would be read if it were there. */
  private isMissing(path: string): boolean {
    const root = rootOf(path);
    const { world, files } = this.interpreter;
    return modelLibraries.has(root) && world.resolveImport !== undefined && files.find(root, 0) === undefined;
  }

  isInstance(value: Value, type: Value): boolean | undefined {
    return isInstanceOf(this.interpreter, value, type);
  }

  enumMembers(type: ClassValue): DictValue {
    const members = enumMembers(type).filter((member) => member instanceof ObjectValue);
    return dictOf(members.map((member) => [keyText(member.attributes.get("name")), member] as const));
  }

  /** `object.__dict__`: the plain attributes; what is written into it they get too. */
  objectDict(object: ObjectValue): DictValue {
    if (object.namespace !== undefined) return object.namespace;
    const dict = dictOf(object.attributes);
    dict.owner = object;
    return dict;
  }

  frameDict(frame: Frame): DictValue {
    return dictOf(frame.variables);
  }

  /** What every class has besides its own attributes. */
  classMember(type: ClassValue, name: string): Value | undefined {
    if (name === "mro") return new NativeFunction("mro", () => null);
    if (name === "__doc__") return null;
    if (name === "__dict__") return dictOf(type.attributes);
    return objectMethods[name] === undefined ? undefined : new NativeFunction(name, objectMethods[name]);
  }

  /** `super().name` where only `object` is left. */
  objectMethod(receiver: ObjectValue | ClassValue, name: string): Value | undefined {
    const method = Object.hasOwn(objectMethods, name) ? objectMethods[name] : undefined;
    if (method === undefined) return undefined;
    return new NativeFunction(
      name,
      (interpreter, args, span) => method(interpreter, args.withReceiver(receiver), span),
      [receiver],
    );
  }
}

/** Methods of `object`, the receiver first. */
const objectMethods: Readonly<Record<string, Native>> = {
  __init__: () => null,
  __init_subclass__: () => null,
  __post_init__: () => null,
  __setattr__: (interpreter, args) => {
    const [object, name, value] = [args.at(0), args.at(1), args.at(2)];
    if (object instanceof ObjectValue && typeof name === "string")
      storeAttribute(interpreter, object, name, value ?? null);
    return null;
  },
  __new__: (interpreter, args) => {
    const type = args.at(1) ?? args.at(0);
    return type instanceof ClassValue ? interpreter.references.keep(new ObjectValue(type)) : null;
  },
};

const typeFunction: Native = (interpreter, args, span) => {
  const value = args.at(0) ?? null;
  if (args.count !== 1) return interpreter.unknown("call", span, { name: "type" });
  if (value instanceof ObjectValue) return value.type;
  if (value instanceof PropertyValue || value instanceof MethodWrapper)
    return new LibraryName("builtins.property");
  const name = interpreter.typeName(value);
  if (name === "?") return value;
  if (name === "Tensor") return new LibraryName("torch.Tensor");
  return interpreter.library.types.get(name) ?? new LibraryName(`types.${name}`);
};
