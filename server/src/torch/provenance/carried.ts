/**
 * Whether a value carries a graph, asked for one expression at a time and remembered. Follows assignments that reach
 * the expression, local functions by what they return, models by what is known of them. Whatever is not understood is
 * `unknown`, never `yes`.
 */
import type {
  Attribute,
  Call,
  Comprehension,
  Expression,
  FunctionDefinition,
  Node,
  Subscript,
} from "../../python/tree";
import { parameterFreeModules } from "../api";
import {
  givesSameElements,
  graphFreePackages,
  graphKeepingAttributes,
  graphKeepingMethods,
  keepsGraph,
  severingAttributes,
  severingFunctions,
  severingMethods,
  tensorConstructors,
} from "../api-graph";
import type { ImportedFunction } from "../imported";
import { methodOfImported } from "../resolve-imported";
import { enclosingClass } from "../resolve-index";
import type { Certainty, ResolvedObject, Resolver } from "../resolve";
import { atEntry, type Definition, type Flow, type Reaching } from "./flow";
import type { GradientModes } from "./gradient-mode";
import { openQuestions, type AnswersByPath } from "./questions";
import {
  argumentsOf,
  createsGraph,
  givesTensor,
  hasDimension,
  isGenerator,
  isNumber,
  isScalarFunction,
  matchesKey,
  reducesToScalar,
  scaledLeaf,
  wholeOf,
} from "./shapes";
import { mayRunParameters } from "./runs-parameters";
import { isNoTensorAt, tensorTestAround } from "./tensor-tests";
import type { ModuleParameters } from "./parameters";
import type { BackwardCall } from "./sinks";
import {
  join,
  madeBy,
  ofParameter,
  operation,
  severed,
  unknown,
  type Carried,
  type ParameterUse,
  type Path,
} from "./value";

export interface CarriedValues {
  /** What the value carries by this function's own text; parameters are left open. */
  of(expression: Expression, path?: Path): Carried;
  /** The same with parameters replaced by what the callers in this file give, and the callers' gradient mode. */
  closed(expression: Expression, path?: Path): Carried;
  /** What the arguments that a value depends on carry, over all callers. */
  close(carried: Carried): Carried;
  ofArgument(call: Call, use: ParameterUse): Carried;
  /** Definitions whose value is backwarded as it is: they carry a graph, however they were made. True: one element. */
  proven(): ReadonlyMap<Definition, boolean>;
}

/** What is put into a container, by its key. */
export interface StoredValue {
  readonly value: Expression;
  /** The element of `value` (for `extend`), or all of it. */
  readonly path: Path;
  /** The literal key it is stored under, when it is one. */
  readonly key: number | string | undefined;
}

export interface CarriedOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly modes: GradientModes;
  readonly parameters: ModuleParameters;
  readonly backwards: readonly BackwardCall[];
  storedIn(key: string): readonly StoredValue[];
}

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

export function createCarriedValues(options: CarriedOptions): CarriedValues {
  return new Evaluator(options);
}

class Evaluator implements CarriedValues {
  private readonly known: AnswersByPath<Expression> = new Map();
  private readonly definitions: AnswersByPath<Definition> = new Map();
  private readonly fromCallers: AnswersByPath<FunctionDefinition> = new Map();
  private provenByBackward: Map<Definition, boolean> | undefined;

  constructor(private readonly options: CarriedOptions) {}

  of(expression: Expression, path: Path = []): Carried {
    return openQuestions.remember(this.known, expression, path, () => this.compute(expression, path));
  }

  closed(expression: Expression, path: Path = []): Carried {
    if (this.options.modes.at(expression) === "off" && !this.isProven(expression)) return severed;
    return this.close(this.of(expression, path));
  }

  /** A value that is backwarded was made with gradients on, whatever we think of the mode. */
  private isProven(expression: Expression): boolean {
    const proven = this.proven();
    return (this.options.flow.reaching(expression) ?? []).some((one) => one !== atEntry && proven.has(one));
  }

  close(carried: Carried): Carried {
    if (carried.parameters.length === 0) return carried;
    const own: Carried = { ...carried, parameters: [] };
    return join([own, ...carried.parameters.map((use) => this.ofCallers(use))]);
  }

  ofArgument(call: Call, use: ParameterUse): Carried {
    const { resolver, modes } = this.options;
    const argument = resolver.argumentFor(call, use.owner, use.name);
    if (argument === undefined) return this.ofDefault(use);
    if (modes.at(call) === "off") return severed;
    return this.of(argument, use.path);
  }

  private ofDefault(use: ParameterUse): Carried {
    const fallback = use.owner.parameters.find(({ name }) => name.id === use.name)?.default;
    return fallback ? severed : unknown;
  }

  private ofCallers(use: ParameterUse): Carried {
    return openQuestions.remember(this.fromCallers, use.owner, [use.name, ...use.path], () => {
      const calls = this.options.resolver.callsTo(use.owner);
      if (calls.length === 0) return unknown;
      return openQuestions.deeper(() => join(calls.map((call) => this.close(this.ofArgument(call, use)))));
    });
  }

  private compute(expression: Expression, path: Path): Carried {
    switch (expression.kind) {
      case "Name":
        return this.ofVariable(expression, path) ?? severed;
      case "Attribute":
        return this.ofVariable(expression, path) ?? this.ofAttribute(expression, path);
      case "Call":
        return this.ofCall(expression, path);
      case "Subscript":
        return this.ofSubscript(expression, path);
      case "BinaryOperation":
        return this.operated(expression, [expression.left, expression.right]);
      case "UnaryOperation":
        return expression.operator === "not" ? severed : this.operated(expression, [expression.operand]);
      case "Conditional":
        return join([this.of(expression.body, path), this.of(expression.orelse, path)]);
      case "BooleanOperation":
        return join(expression.operands.map((operand) => this.of(operand, path)));
      case "NamedExpression":
      case "Await":
      case "Starred":
        return this.of(expression.value, path);
      case "Tuple":
      case "List":
      case "Set":
        return this.ofDisplay(expression.elements, path);
      case "Dict": {
        const [key, ...rest] = path;
        const entries = expression.entries.filter((entry) => matchesKey(entry.key, key));
        return join(entries.map((entry) => this.of(entry.value, entry.key ? rest : path)));
      }
      case "Comprehension":
        return this.ofComprehension(expression, path);
      case "Yield":
      case "Invalid":
        return unknown;
      default:
        return severed;
    }
  }

  private ofDisplay(elements: readonly Expression[], path: Path): Carried {
    const [index, ...rest] = path;
    if (typeof index === "number") {
      const element = elements[index < 0 ? elements.length + index : index];
      if (element && !elements.some(({ kind }) => kind === "Starred")) return this.of(element, rest);
    }
    const whole = join(elements.map((element) => this.of(element, rest)));
    return path.length === 0 ? { ...whole, tensor: false, scalar: false } : whole;
  }

  private ofComprehension(comprehension: Comprehension, path: Path): Carried {
    const element = this.of(comprehension.element, path.slice(1));
    return path.length === 0 ? { ...element, tensor: false, scalar: false } : element;
  }

  /** An operation on tensors: severed where gradients are off. */
  private operated(node: Expression, operands: readonly Expression[]): Carried {
    const mode = this.options.modes.lexicallyAt(node);
    if (mode === "off") return severed;
    const values = operands.map((operand) => this.of(operand));
    const result = operation(
      values,
      values.every((value, index) => value.scalar || isNumber(operands[index])),
    );
    return mode === "unknown" && result.graph === "yes" ? unknown : result;
  }

  // --- Variables --------------------------------------------------------------------------------------------------

  private ofVariable(variable: Expression, path: Path): Carried | undefined {
    const { flow, resolver } = this.options;
    const reaching = flow.reaching(variable);
    const key = resolver.keyOf(variable);
    if (key === undefined) return undefined;
    if (isNoTensorAt(variable, key, resolver)) return severed;
    const stored = this.options.storedIn(key);
    if (reaching === undefined || (reaching.length === 1 && reaching[0] === atEntry)) {
      const entry = this.atEntry(variable, key, path);
      if (entry === undefined && stored.length === 0) return undefined;
      return this.withStored(entry ?? severed, stored, path);
    }
    const values = this.afterTensorTests(reaching, key).map((one) =>
      one === atEntry ? (this.atEntry(variable, key, path) ?? unknown) : this.ofDefinition(one, path),
    );
    return this.withStored(join(values), stored, path);
  }

  /** Without what a tensor test leaves over: `if isinstance(x, Tensor): x = x.item()`. */
  private afterTensorTests(reaching: readonly Reaching[], key: string): readonly Reaching[] {
    if (reaching.length < 2) return reaching;
    const tests = reaching.flatMap((one) =>
      one === atEntry ? [] : (tensorTestAround(one.node, key, this.options.resolver) ?? []),
    );
    if (tests.length === 0) return reaching;
    return reaching.filter((one) => one !== atEntry && tests.every(({ start }) => one.node.start >= start));
  }

  private withStored(value: Carried, stored: readonly StoredValue[], path: Path): Carried {
    if (stored.length === 0) return value;
    const [index, ...rest] = path;
    const fitting = stored.filter(
      ({ key }) => index === undefined || index === "*" || key === undefined || key === index,
    );
    const elements = fitting.map((one) => this.of(one.value, [...one.path, ...rest]));
    const result = join([value, ...elements]);
    return index === undefined ? { ...result, tensor: false, scalar: false } : result;
  }

  /** What the variable held when its function began. */
  private atEntry(variable: Expression, key: string, path: Path): Carried | undefined {
    const { flow, resolver } = this.options;
    if (variable.kind === "Name") {
      const bindings = resolver.scopes.lookup(variable);
      const parameter = bindings.find(({ kind }) => kind === "parameter");
      const owner = parameter?.scope.owner;
      if (parameter && owner?.kind === "FunctionDefinition") {
        if (resolver.roleOf(variable) !== undefined && resolver.roleOf(variable) !== "tensor") return severed;
        return ofParameter(owner, parameter.name, path);
      }
      if (
        bindings.length === 0 ||
        bindings.some(({ kind }) => kind === "import" || kind === "function" || kind === "class")
      ) {
        return severed;
      }
    }
    const elsewhere = flow.definitionsOf(key);
    if (elsewhere.length === 0) return undefined;
    return join(elsewhere.map((definition) => this.ofDefinition(definition, path)));
  }

  private ofDefinition(definition: Definition, path: Path): Carried {
    return openQuestions.remember(this.definitions, definition, path, () => {
      const value = this.definedValue(definition, path);
      if (path.length > 0 || value.graph === "yes") return this.markProven(definition, value);
      return this.markProven(definition, value);
    });
  }

  private markProven(definition: Definition, value: Carried): Carried {
    const scalar = this.proven().get(definition);
    if (scalar === undefined) return value;
    if (value.graph === "yes")
      return { ...value, certainty: "resolved", tensor: true, scalar: value.scalar || scalar };
    if (definition.value === undefined || isNumber(definition.value)) return value;
    return { ...madeBy(definition.value, "resolved", true, scalar), parameters: value.parameters };
  }

  private definedValue(definition: Definition, path: Path): Carried {
    const { value, kind } = definition;
    if (kind === "augmented") {
      const before = this.options.flow
        .before(definition)
        .map((one) => this.ofReaching(one, definition, path));
      const taken = value ? this.of(value) : unknown;
      const all = operation(
        [...before, taken],
        [...before, taken].every(({ scalar, graph }) => graph !== "yes" || scalar),
      );
      return this.options.modes.lexicallyAt(definition.node) === "off" ? join(before) : all;
    }
    if (value === undefined) return unknown;
    if (kind === "iterate") return this.ofElement(value, [...definition.path, ...path]);
    if (kind === "with") return unknown;
    return kind === "assign" ? this.of(value, [...definition.path, ...path]) : unknown;
  }

  private ofReaching(one: Reaching, definition: Definition, path: Path): Carried {
    if (one !== atEntry) return this.ofDefinition(one, path);
    return this.atEntry(definition.target, definition.key, path) ?? unknown;
  }

  /** What a loop over `iterable` gives at `path`. */
  private ofElement(iterable: Expression, path: Path): Carried {
    if (iterable.kind === "Call") {
      const name = this.options.resolver.qualifiedName(iterable.callee);
      const [first, ...rest] = path;
      if (name === "builtins.enumerate") {
        if (first === 0) return severed;
        return iterable.positional[0]
          ? this.ofElement(iterable.positional[0], first === 1 ? rest : path)
          : severed;
      }
      if (name === "builtins.zip" && typeof first === "number") {
        const argument = iterable.positional[first];
        return argument ? this.ofElement(argument, rest) : unknown;
      }
      if (name === "builtins.range") return severed;
      if (iterable.callee.kind === "Attribute" && iterable.callee.attribute.id === "items") {
        return first === 0 ? severed : this.of(iterable.callee.object, ["*", ...rest]);
      }
      if (iterable.callee.kind === "Attribute" && iterable.callee.attribute.id === "values") {
        return this.of(iterable.callee.object, ["*", ...path]);
      }
    }
    if (this.options.resolver.roleOf(iterable) === "loader") return severed;
    return this.of(iterable, ["*", ...path]);
  }

  // --- Attributes and subscripts ----------------------------------------------------------------------------------

  private ofAttribute(attribute: Attribute, path: Path): Carried {
    const name = attribute.attribute.id;
    if (severingAttributes.has(name)) return severed;
    if (this.options.resolver.roleOf(attribute.object) !== undefined) return severed;
    if (graphKeepingAttributes.has(name)) return this.of(attribute.object, path);
    const value = this.of(attribute.object, [name, ...path]);
    return /^(loss|\w+_loss)$/.test(name) && value.graph === "yes"
      ? { ...value, tensor: true, scalar: true }
      : value;
  }

  private ofSubscript(subscript: Subscript, path: Path): Carried {
    const { index } = subscript;
    const step = index.kind === "Integer" ? index.value : index.kind === "String" ? index.value : undefined;
    // `graph.edata["h"]`, `batch.data["x"]`: a collection of that name, not the `.data` of a tensor.
    if (index.kind === "String" && isAttributeCalledData(subscript.object)) return unknown;
    if (index.kind === "UnaryOperation" || index.kind === "Slice") {
      const part = this.of(subscript.object, index.kind === "Slice" ? path : ["*", ...path]);
      return { ...part, scalar: false };
    }
    return this.of(subscript.object, [step ?? "*", ...path]);
  }

  // --- Calls ------------------------------------------------------------------------------------------------------

  private ofCall(call: Call, path: Path): Carried {
    const name = this.options.resolver.qualifiedName(call.callee);
    if (name !== undefined) return this.ofApi(call, name, path);
    const target = this.options.resolver.functionOf(call);
    if (target) return this.ofLocal(call, target, path);
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
    if (this.isParameterFree(call.callee)) return this.operated(call, argumentsOf(call));
    return unknown;
  }

  private ofApi(call: Call, name: string, path: Path): Carried {
    if (severingFunctions.has(name) || tensorConstructors.has(name)) return severed;
    const imported = this.ofImported(call, path);
    if (imported !== undefined) return imported;
    const [given] = call.positional;
    if (given !== undefined && path[0] === "*" && givesSameElements(name))
      return this.ofElement(given, path.slice(1));
    if (graphFreePackages.has(name.split(".")[0] ?? "")) return severed;
    if (name === "torch.autograd.grad") return createsGraph(call) ? unknown : severed;
    if (!keepsGraph(name)) return this.options.resolver.objectOf(call) ? severed : unknown;
    const method = name.split(".").at(-1) ?? "";
    if (path[0] === 1 && indexedResults.has(method) && name.startsWith("torch.")) return severed;
    if (name.startsWith("builtins.")) {
      const whole = join(argumentsOf(call).map((argument) => this.of(argument, wholeOf(name, path))));
      return name === "builtins.sum" ? { ...whole, tensor: true, scalar: false } : whole;
    }
    const model =
      call.positional[0] && name.startsWith("torch.utils.checkpoint") ? call.positional[0] : undefined;
    const object = model && this.options.resolver.objectOf(model);
    if (object?.role === "model") return this.ofModel(call, object, path);
    const result = this.operated(call, argumentsOf(call));
    return { ...result, scalar: isScalarFunction(call, name) };
  }

  private ofLocal(call: Call, target: FunctionDefinition, path: Path): Carried {
    if (isGenerator(target, this.options.resolver)) return unknown;
    if (target.decorators.some(({ expression }) => this.options.modes.effectOf(expression) === "off"))
      return severed;
    if (this.options.modes.lexicallyAt(call) === "off") return severed;
    const summary = join(this.options.resolver.returnedValues(target).map((value) => this.of(value, path)));
    return this.substituted(summary, call, target);
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
    if (this.options.modes.lexicallyAt(call) === "off") return severed;
    const values = resolve.returnedValues(definition);
    const summary = join(values.map((value) => provenance.carriedHere(value, path)));
    return this.substituted(this.seenFromHere(summary, call, definition, resolve), call, definition);
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
        return argument ? this.of(argument, use.path) : this.ofDefault(use);
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
      return this.of(callee.object, method === "values" ? path : ["*", ...path.slice(1)]);
    if (!graphKeepingMethods.has(method)) return undefined;
    if (path[0] === 1 && indexedResults.has(method)) return severed;
    const result = this.operated(call, [callee.object, ...argumentsOf(call)]);
    const reduced =
      /^(sum|mean|norm|prod|max|min|median|std|var)$/.test(method) &&
      call.positional.length === 0 &&
      !hasDimension(call);
    const shape =
      /^(to|cuda|cpu|float|half|double|bfloat16|clone|contiguous|type|abs|exp|log|sqrt|neg|clamp|squeeze)$/.test(
        method,
      );
    return { ...result, scalar: reduced || (shape && this.of(callee.object).scalar) };
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
    const made = this.operated(call, argumentsOf(call));
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
    if (resolver.isFrozen(callee)) return this.operated(call, argumentsOf(call));
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

  // --- Backward as evidence ---------------------------------------------------------------------------------------

  proven(): ReadonlyMap<Definition, boolean> {
    if (this.provenByBackward) return this.provenByBackward;
    const proven = new Map<Definition, boolean>();
    this.provenByBackward = proven;
    for (const backward of this.options.backwards) {
      for (const value of backward.values) {
        const leaf = scaledLeaf(value);
        if (leaf.kind !== "Name" && leaf.kind !== "Attribute") continue;
        for (const one of this.options.flow.reaching(leaf) ?? []) {
          if (one !== atEntry && one.kind !== "augmented" && isOneValue(one)) {
            proven.set(
              one,
              (proven.get(one) ?? false) || (backward.scalar && leaf === value) || backward.scalar,
            );
          }
        }
      }
    }
    return proven;
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

function isAttributeCalledData(expression: Expression): boolean {
  return expression.kind === "Attribute" && expression.attribute.id === "data";
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

/** Not a starting value such as `loss = 0`, whose variable is backwarded after something was added. */
function isOneValue(definition: Definition): boolean {
  const { value, kind } = definition;
  if (value === undefined || (kind !== "assign" && kind !== "iterate")) return false;
  return (
    value.kind === "Call" ||
    value.kind === "BinaryOperation" ||
    value.kind === "Attribute" ||
    value.kind === "Subscript"
  );
}
