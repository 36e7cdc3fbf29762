/**
 * What the result of a call carries: of the API by what is known of it, of functions of this and other files by what they
 * return, of models by whether their parameters take part.
 */
import type { Attribute, Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import { parameterFreeModules } from "../api";
import {
  givesSameElements,
  graphFreePackages,
  graphKeepingMethods,
  keepsGraph,
  severingFunctions,
  severingMethods,
  tensorConstructors,
} from "../api-graph";
import type { ImportedFunction } from "../imported";
import { methodOfImported } from "../resolve-imported";
import { enclosingClass, isSuper } from "../resolve-index";
import type { Certainty, ResolvedObject, Resolver } from "../resolve";
import type { CarriedOptions } from "./carried";
import {
  argumentsOf,
  createsGraph,
  forwardReceiver,
  givesTensor,
  hasDimension,
  isGenerator,
  isScalarFunction,
  reducesToScalar,
  wholeOf,
} from "./shapes";
import type { GradientMode } from "./gradient-mode";
import { isSkippedBy } from "./never-both";
import { mayRunParameters } from "./runs-parameters";
import { join, madeBy, severed, unknown, type Carried, type ParameterUse, type Path } from "./value";

/** Methods whose second result is an index: `values, indices = x.max(1)`. */
const indexedResults: ReadonlySet<string> = new Set([
  "max",
  "min",
  "sort",
  "topk",
  "kthvalue",
  "median",
  "mode",
  "cummax",
  "cummin",
]);
const containerReads: ReadonlySet<string> = new Set([
  "values",
  "copy",
  "get",
  "pop",
  "popleft",
  "items",
  "setdefault",
]);
const textMethods: ReadonlySet<string> = new Set([
  "format",
  "join",
  "keys",
  "split",
  "strip",
  "lower",
  "upper",
  "startswith",
  "generate",
]);

/** What calls ask about the values that they are given. */
export interface GivenValues {
  of(expression: Expression, path?: Path): Carried;
  /** What a loop over the value gives at `path`. */
  ofElement(iterable: Expression, path: Path): Carried;
  /** Of a parameter for which a call gives nothing. */
  ofDefault(use: ParameterUse): Carried;
  /** An operation of tensors: severed where gradients are off. */
  operated(node: Expression, operands: readonly Expression[]): Carried;
}

export class CarriedByCalls {
  constructor(
    private readonly options: CarriedOptions,
    private readonly values: GivenValues,
  ) {}

  /** What comes out of the call, at `path` in it. */
  of(call: Call, path: Path): Carried {
    const name = this.options.resolver.qualifiedName(call.callee);
    if (name !== undefined) return this.ofApi(call, name, path);
    const target = this.options.resolver.functionOf(call);
    if (target && !this.isForwardOfModel(call)) return this.ofLocal(call, target, path);
    if (this.options.resolver.constructedClass(call)) return severed;
    if (call.callee.kind === "Attribute") {
      const through = this.ofMethod(call, call.callee, path);
      if (through) return through;
    }
    const imported = this.ofImported(call, path);
    if (imported !== undefined) return imported;
    const object = this.options.resolver.objectOf(call.callee);
    if (object?.role === "model" || object?.role === "engine") return this.ofModel(call, object, path);
    if (object?.role === "loss-module") return this.ofLoss(call, object, path);
    if (object !== undefined && object.role !== "tensor" && object.role !== "meter") return severed;
    if (this.isParameterFree(call.callee)) return this.values.operated(call, argumentsOf(call));
    return unknown;
  }

  /** `model.forward(x)`, written by others than the model itself. */
  private isForwardOfModel({ callee }: Call): boolean {
    if (callee.kind !== "Attribute" || callee.attribute.id !== "forward") return false;
    const { object } = callee;
    if (isSuper(object) || (object.kind === "Name" && this.options.resolver.classOfSelf(object)))
      return false;
    return this.options.resolver.roleOf(object) === "model";
  }

  private ofApi(call: Call, name: string, path: Path): Carried {
    if (severingFunctions.has(name) || tensorConstructors.has(name)) return severed;
    const imported = this.ofImported(call, path);
    if (imported !== undefined) return imported;
    const model = this.options.resolver.objectOf(forwardReceiver(call));
    if (model?.role === "model") return this.ofModel(call, model, path);
    const [given] = call.positional;
    if (given !== undefined && path[0] === "*" && givesSameElements(name))
      return this.values.ofElement(given, path.slice(1));
    if (graphFreePackages.has(name.split(".")[0] ?? "")) return severed;
    if (name === "torch.autograd.grad") return createsGraph(call) ? unknown : severed;
    if (!keepsGraph(name)) return this.options.resolver.objectOf(call) ? severed : unknown;
    const method = name.split(".").at(-1) ?? "";
    if (path[0] === 1 && indexedResults.has(method) && name.startsWith("torch.")) return severed;
    if (name.startsWith("builtins.")) {
      const whole = join(argumentsOf(call).map((argument) => this.values.of(argument, wholeOf(name, path))));
      return name === "builtins.sum" ? { ...whole, tensor: true, scalar: false } : whole;
    }
    const checkpointed =
      call.positional[0] && name.startsWith("torch.utils.checkpoint") ? call.positional[0] : undefined;
    const object = checkpointed && this.options.resolver.objectOf(checkpointed);
    if (object?.role === "model") return this.ofModel(call, object, path);
    const result = this.values.operated(call, argumentsOf(call));
    return { ...result, scalar: isScalarFunction(call, name) };
  }

  private ofLocal(call: Call, target: FunctionDefinition, path: Path): Carried {
    if (isGenerator(target, this.options.resolver)) return unknown;
    if (target.decorators.some(({ expression }) => this.options.modes.effectOf(expression) === "off"))
      return severed;
    const mode = this.options.modes.lexicallyAt(call);
    if (mode === "off") return severed;
    const summary = join(
      this.resultsFor(call, target, this.options.resolver).map((value) => this.values.of(value, path)),
    );
    return inMode(mode, this.substituted(summary, call, target));
  }

  /** The result of a function that another file defines, or an instance of a class of it. */
  private ofImported(call: Call, path: Path): Carried | undefined {
    const { resolver } = this.options;
    const called = resolver.imported.functionOf(call);
    if (called !== undefined) return this.ofOtherFile(call, called, path);
    return resolver.imported.classNamed(call.callee) === undefined ? undefined : severed;
  }

  /** The same as `ofLocal` with the function's own file asked. */
  private ofOtherFile(call: Call, { definition, file }: ImportedFunction, path: Path): Carried {
    const { resolve, provenance } = file.torch;
    if (isGenerator(definition, resolve)) return unknown;
    if (provenance.modes.isTurnedOffBy(definition)) return severed;
    const mode = this.options.modes.lexicallyAt(call);
    if (mode === "off") return severed;
    const values = this.resultsFor(call, definition, resolve);
    const summary = join(values.map((value) => provenance.carriedHere(value, path)));
    const seen = this.seenFromHere(summary, call, definition, resolve);
    return inMode(mode, this.substituted(seen, call, definition));
  }

  /** What the function may return for this call: not the codes under `if return_codes:` where the call leaves that out. */
  private resultsFor(call: Call, target: FunctionDefinition, elsewhere: Resolver): readonly Expression[] {
    const values = elsewhere.returnedValues(target);
    if (values.length < 2) return values;
    const given = (name: string): Expression | undefined =>
      this.options.resolver.argumentOrDefault(call, target, name);
    const possible = values.filter((value) => !isSkippedBy(given, value, elsewhere));
    return possible.length > 0 ? possible : values;
  }

  /** A graph that begins in another file begins for this one where it calls that. */
  private seenFromHere(
    summary: Carried,
    call: Call,
    definition: FunctionDefinition,
    elsewhere: Resolver,
  ): Carried {
    if (summary.graph !== "yes") return summary;
    const known: Carried = { ...summary, sources: new Set<Node>([call]) };
    if (summary.certainty === "resolved") return known;
    // `model(x)` of a parameter that is only called so: what is given for it here tells.
    let certainty: Certainty = summary.certainty;
    for (const source of summary.sources) {
      const given = source.kind === "Call" ? parameterCalled(source, definition, elsewhere) : undefined;
      if (given === undefined) continue;
      const argument = this.options.resolver.argumentFor(call, definition, given);
      if (argument === undefined) continue;
      const object = this.options.resolver.objectOf(argument);
      if (object !== undefined && object.role !== "model" && object.role !== "engine") return unknown;
      if (this.options.resolver.isFrozen(argument)) return unknown;
      if (object?.certainty === "resolved") certainty = "resolved";
    }
    return { ...known, certainty };
  }

  /** A summary with the parameters of its function replaced by a call's arguments. */
  private substituted(summary: Carried, call: Call, target: FunctionDefinition): Carried {
    if (summary.parameters.length === 0) return summary;
    const outer = summary.parameters.filter(({ owner }) => owner !== target);
    const given = summary.parameters
      .filter(({ owner }) => owner === target)
      .map((use) => {
        const argument = this.options.resolver.argumentFor(call, target, use.name);
        return argument ? this.values.of(argument, use.path) : this.values.ofDefault(use);
      });
    const filled = join([{ ...summary, parameters: outer }, ...given]);
    return summary.tensor && filled.graph === "yes" ? { ...filled, tensor: true } : filled;
  }

  private ofMethod(call: Call, callee: Attribute, path: Path): Carried | undefined {
    const method = callee.attribute.id;
    if (severingMethods.has(method) || textMethods.has(method)) return severed;
    const role = this.options.resolver.roleOf(callee.object);
    if (method === "forward" && (role === "model" || role === "engine")) {
      const object = this.options.resolver.objectOf(callee.object);
      return object && this.ofModel(call, object, path);
    }
    if (role !== undefined && role !== "tensor" && role !== "meter") {
      return this.options.resolver.objectOf(callee) ? undefined : unknown;
    }
    if (containerReads.has(method))
      return this.values.of(callee.object, method === "values" ? path : ["*", ...path.slice(1)]);
    if (!graphKeepingMethods.has(method)) return undefined;
    if (path[0] === 1 && indexedResults.has(method)) return severed;
    const result = this.values.operated(call, [callee.object, ...argumentsOf(call)]);
    const reduced =
      /^(sum|mean|norm|prod|max|min|median|std|var)$/.test(method) &&
      call.positional.length === 0 &&
      !hasDimension(call);
    const shape =
      /^(to|cuda|cpu|float|half|double|bfloat16|clone|contiguous|type|abs|exp|log|sqrt|neg|clamp|squeeze)$/.test(
        method,
      );
    return { ...result, scalar: reduced || (shape && this.values.of(callee.object).scalar) };
  }

  private ofLoss(call: Call, object: ResolvedObject, path: Path): Carried {
    const local = object.classDefinition && this.options.resolver.methodOf(object.classDefinition, "forward");
    const elsewhere = local ? undefined : this.forwardElsewhere(object);
    if (local ?? elsewhere) {
      const summary = local
        ? this.ofLocal(call, local, path)
        : elsewhere
          ? this.ofOtherFile(call, elsewhere, path)
          : unknown;
      if (summary.graph !== "unknown") return summary;
    }
    const made = this.values.operated(call, argumentsOf(call));
    if (made.graph !== "yes" || path.length > 0) return made.graph === "yes" ? unknown : made;
    const scalar =
      object.certainty === "resolved" &&
      local === undefined &&
      object.importedClass === undefined &&
      reducesToScalar(object.construction);
    const certainty = object.certainty === "name" ? "name" : made.certainty;
    return {
      ...made,
      certainty: object.certainty === "name" ? certainty : made.certainty,
      tensor: object.certainty !== "name",
      scalar,
    };
  }

  private ofModel(call: Call, object: ResolvedObject, path: Path): Carried {
    const { modes, resolver } = this.options;
    const mode = modes.lexicallyAt(call);
    if (mode === "off") return severed;
    if (mode === "unknown") return unknown;
    const callee =
      call.callee.kind === "Attribute" && call.callee.attribute.id === "forward"
        ? call.callee.object
        : call.callee;
    if (resolver.isFrozen(callee)) return this.values.operated(call, argumentsOf(call));
    const forward = object.classDefinition && resolver.methodOf(object.classDefinition, "forward");
    if (object.classDefinition === undefined || forward === undefined) {
      const elsewhere = this.forwardElsewhere(object);
      if (elsewhere) return this.ofImportedModel(call, object, elsewhere, path);
      if (!surelyDifferentiable(object, path)) return unknown;
      const tensor = path.length === 0 && object.className !== undefined && givesTensor(object.className);
      return madeBy(call, object.certainty, tensor);
    }
    const summary = this.ofLocal(call, forward, path);
    if (summary.graph === "yes")
      return { ...summary, sources: new Set<Node>([call]), certainty: object.certainty };
    if (summary.graph === "no" && summary.parameters.length === 0) {
      return summary;
    }
    const owner = object.classDefinition;
    const trusted =
      path.length === 0 &&
      !this.options.parameters.showsNone(owner) &&
      mayRunParameters(forward, owner, resolver, modes);
    return trusted ? madeBy(call, object.certainty, false) : unknown;
  }

  /** The `forward` of a class, or of a base of it, that another file defines. */
  private forwardElsewhere({ classDefinition, importedClass }: ResolvedObject): ImportedFunction | undefined {
    if (classDefinition) return this.options.resolver.imported.methodOf(classDefinition, "forward");
    if (importedClass === undefined) return undefined;
    return methodOfImported(importedClass, "forward");
  }

  private ofImportedModel(
    call: Call,
    object: ResolvedObject,
    forward: ImportedFunction,
    path: Path,
  ): Carried {
    const summary = this.ofOtherFile(call, forward, path);
    if (summary.graph === "yes")
      return { ...summary, sources: new Set<Node>([call]), certainty: object.certainty };
    if (summary.graph === "no" && summary.parameters.length === 0) return summary;
    const owner = object.classDefinition ?? object.importedClass?.definition;
    const { provenance } = (object.importedClass ?? forward).file.torch;
    const without =
      owner !== undefined &&
      (provenance.parameters.showsNone(owner) || !this.mayRunElsewhere(object, forward));
    return path.length === 0 && !without ? madeBy(call, object.certainty, false) : unknown;
  }

  /** Asked of the class that has the `forward`, where that is the object's own. */
  private mayRunElsewhere(
    { importedClass }: ResolvedObject,
    { definition, file }: ImportedFunction,
  ): boolean {
    const owner = enclosingClass(definition);
    if (owner === undefined || owner !== importedClass?.definition) return true;
    const { resolve, provenance } = file.torch;
    return mayRunParameters(definition, owner, resolve, provenance.modes);
  }

  private isParameterFree(callee: Expression): boolean {
    const { resolver } = this.options;
    // `nn.ReLU()(x)`: the callee is the construction itself.
    return [callee, ...resolver.valuesOf(callee)].some((value) => {
      const name = value.kind === "Call" ? resolver.qualifiedName(value.callee) : undefined;
      return name !== undefined && parameterFreeModules.has(name);
    });
  }
}

/** What an unseen model returns beside its first result may be an index, a mask, or a number for the log. */
function surelyDifferentiable({ className }: ResolvedObject, [part]: Path): boolean {
  if (part === undefined || part === 0 || part === "*") return true;
  if (className?.startsWith("torch.nn.") && !/\.(Module|\w*Parallel)$/.test(className)) return true;
  return (
    typeof part === "string" && /loss|logit|hidden|output|embed|feature|pred|score|state|prob/i.test(part)
  );
}

/** Under `torch.set_grad_enabled(is_training)` nobody knows whether a graph is made. */
function inMode(mode: GradientMode | undefined, value: Carried): Carried {
  return mode === "unknown" && value.graph === "yes" ? unknown : value;
}

/** The parameter of a function that a call in it calls. */
function parameterCalled(call: Call, target: FunctionDefinition, resolver: Resolver): string | undefined {
  const callee =
    call.callee.kind === "Attribute" && call.callee.attribute.id === "forward"
      ? call.callee.object
      : call.callee;
  if (callee.kind !== "Name") return undefined;
  const [binding, other] = resolver.scopes.lookup(callee);
  return other === undefined && binding?.kind === "parameter" && binding.scope.owner === target
    ? binding.name
    : undefined;
}
