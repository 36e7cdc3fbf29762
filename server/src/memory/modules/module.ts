/**
 * The modules of `torch.nn`. The evaluator owns the objects (attributes, children, user subclasses, and the containers
 * Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict, Identity needs none); this folder says what the
 * constructors put on them and what their forward calls.
 */
import type { Argument, Keywords } from "../operators/argument";
import type { Execution, Location } from "../tape";
import type { Tensor } from "../tensor";
import type { Unknown } from "../unknown";

/** A module object of the evaluator: an instance of a class of `torch.nn` or of a subclass of it. */
export interface ModuleObject {
  readonly kind: "module";
  /** The nearest class of `torch.nn` it derives from, e.g. `torch.nn.Conv2d`; `torch.nn.Module` when none other. */
  readonly torchClass: string;
  readonly training: boolean;
  /** Plain attributes, parameters, buffers and children alike; undefined when there is none. */
  getAttribute(name: string): Argument | undefined;
  setAttribute(name: string, value: Argument): void;
  /** Null registers the name without a tensor, as `bias=False` does. */
  registerParameter(name: string, tensor: Tensor | null): void;
  registerBuffer(name: string, tensor: Tensor | null, persistent: boolean): void;
  addModule(name: string, module: ModuleObject): void;
  child(name: string): ModuleObject | undefined;
  children(): readonly (readonly [string, ModuleObject])[];
  /** A new instance of a class of `torch.nn`, not yet attached. */
  create(torchClass: string, positional: readonly Argument[], keywords: Keywords): ModuleObject | Unknown;
  /** `copy.deepcopy`: new parameters and buffers. */
  copy(): ModuleObject | Unknown;
  /** `module(...)`: its forward, whoever wrote it. The caller owns the tensors that come back. */
  call(positional: readonly Argument[], keywords: Keywords): Argument;
}

export interface ConstructorContext {
  readonly execution: Execution;
  readonly module: ModuleObject;
  readonly torchClass: string;
  /** Constructor arguments by name, defaults filled in. */
  readonly values: Readonly<Record<string, Argument>>;
  /** What `*args` of the constructor took. */
  readonly rest: readonly Argument[];
}

export interface ForwardContext extends ConstructorContext {
  readonly location: Location;
}

/** One row of the table of modules. */
export interface ModuleRow {
  /** Qualified, e.g. `torch.nn.Conv2d`. */
  readonly name: string;
  /** The constructor's parameters in Python syntax, without self: `in_channels, out_channels, kernel_size, stride=1`. */
  readonly constructorParameters: string;
  /** Puts attributes, parameters, buffers and children on the module. Unknown when arguments cannot be understood. */
  readonly construct: (context: ConstructorContext) => Unknown | undefined;
  /** Forward's parameters in Python syntax, without self. */
  readonly forwardParameters: string;
  /** Owned by the caller: the tensors in the answer. */
  readonly forward: (context: ForwardContext) => Argument;
}
