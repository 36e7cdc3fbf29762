/**
 * What an expression is bound to, seen over the whole file: canonical API names, the PyTorch object a name holds, the
 * local function a call runs. Flow-insensitive; what a value is at a point of the run is `provenance.ts`'s question.
 */
import type { Scopes } from "../python/scope";
import type { Call, ClassDefinition, Expression, FunctionDefinition, Lambda, Module, Node } from "../python/tree";

/** What an object is for, in a training script. */
export type Role =
  | "model"
  | "loss-module"
  | "optimizer"
  | "scheduler"
  | "loader"
  | "scaler"
  /** Accelerator, Fabric, a DeepSpeed engine's maker, a Trainer: `className` says which. */
  | "framework"
  /** What `deepspeed.initialize` returns first: a model that also steps. */
  | "engine"
  | "tensor"
  | "dataset"
  | "tokenizer"
  | "logger"
  | "meter";

/**
 * How we know: `resolved` from a construction or a use that leaves no doubt (`Adam(model.parameters())`),
 * `annotation` from a type annotation, `name` from nothing but what the variable or attribute is called.
 */
export type Certainty = "resolved" | "annotation" | "name";

export interface ResolvedObject {
  readonly role: Role;
  /** Canonical (`torch.optim.Adam`) or a class of this file by its name; `undefined` when only the role is known. */
  readonly className: string | undefined;
  /** The class when this file defines it. */
  readonly classDefinition: ClassDefinition | undefined;
  /** The construction, annotation, parameter or name that told us. */
  readonly origin: Node;
  /** The constructing call (`Adam(model.parameters(), lr=…)`), inside all wrappers that keep the role. */
  readonly construction: Call | undefined;
  readonly certainty: Certainty;
}

export type LocalFunction = FunctionDefinition;

export interface Resolver {
  readonly module: Module;
  readonly scopes: Scopes;
  /**
   * The canonical API name an expression refers to, re-exports folded: `torch.nn.functional.cross_entropy`,
   * `torch.optim.Adam`, `torch.no_grad`, `builtins.float`. `undefined` when the root is no import or builtin.
   */
  qualifiedName(expression: Expression): string | undefined;
  /** The PyTorch object an expression evaluates to, through assignments, `self.x`, parameters, wrappers, unpacking. */
  objectOf(expression: Expression): ResolvedObject | undefined;
  /** Short for `objectOf(expression)?.role`. */
  roleOf(expression: Expression): Role | undefined;
  /**
   * All values the whole file binds to a name or attribute (`x`, `self.x`, `trainer.x` of a local class), path of
   * unpacking applied where it can be; empty when unknown.
   */
  valuesOf(expression: Expression): readonly Expression[];
  /** The function or method of this file that a call runs, when exactly one can be meant. */
  functionOf(call: Call): FunctionDefinition | undefined;
  /** The class of this file that a call constructs an instance of. */
  constructedClass(call: Call): ClassDefinition | undefined;
  /** The class of this file an expression is an instance of (`self` included). */
  classOf(expression: Expression): ClassDefinition | undefined;
  /** A method by name, looked for in the class and its bases of this file. */
  methodOf(owner: ClassDefinition, name: string): FunctionDefinition | undefined;
  /** Calls in this file that may run the function; methods match by name when the receiver is unknown. */
  callsTo(target: FunctionDefinition): readonly Call[];
  /** True when the function is also used as a value (passed on, stored): others may call it. */
  isUsedAsValue(target: FunctionDefinition): boolean;
  /** The argument of a call that ends up in a parameter; `undefined` when absent or spread. */
  argumentFor(call: Call, target: FunctionDefinition, parameter: string): Expression | undefined;
  /** Canonical names of all bases, those of bases in this file included: `["torch.nn.Module"]`. */
  basesOf(owner: ClassDefinition): readonly string[];
  /** True for subclasses of `torch.nn.Module`, `LightningModule`, `PreTrainedModel` and the like. */
  isModuleClass(owner: ClassDefinition): boolean;
  /** The nearest function or lambda around a node (a node that is a function: the one around it). */
  enclosingFunction(node: Node): FunctionDefinition | Lambda | undefined;
  /** The class whose body directly holds the function. */
  enclosingClass(target: FunctionDefinition): ClassDefinition | undefined;
  /** A text that is equal for expressions naming the same variable or attribute (`optimizer`, `self.optimizer`). */
  keyOf(expression: Expression): string | undefined;
}

/** Makes the resolver of a file; everything inside is computed on first use. */
export function createResolver(_module: Module, _scopes: Scopes): Resolver {
  throw new Error("not written yet");
}
