/** What a checkpointed segment runs, as far as the file says so for certain: its layers and the functions of this file. */
import type {
  Call,
  ClassDefinition,
  Expression,
  FunctionDefinition,
  Lambda,
  Node,
  Statement,
} from "../../python/tree";
import { walk } from "../../python/walk";
import type { Resolver } from "../../torch/resolve";

export interface Layer {
  /** Canonical: `torch.nn.BatchNorm2d`. */
  readonly name: string;
  readonly construction: Call;
}

export interface Segment {
  readonly layers: readonly Layer[];
  /** Functions, lambdas and `forward` methods of this file that run in it; the first is the one that is called. */
  readonly functions: readonly (FunctionDefinition | Lambda)[];
  /** The layer that gets the input, when the segment is a layer or a `Sequential`. */
  readonly first: Layer | undefined;
}

/** The segment that `checkpoint(argument, …)` runs. Layers behind a condition are left out: nobody knows. */
export function segmentOf(resolver: Resolver, argument: Expression): Segment {
  const collector = new Collector(resolver);
  collector.addExpression(argument, 0);
  return { layers: collector.layers, functions: [...collector.functions], first: collector.first };
}

const containers = /^torch\.nn\.(Sequential|ModuleList)$/;
const maximalDepth = 8;

class Collector {
  readonly layers: Layer[] = [];
  readonly functions = new Set<FunctionDefinition | Lambda>();
  first: Layer | undefined;
  private readonly classes = new Set<ClassDefinition>();

  constructor(private readonly resolver: Resolver) {}

  addExpression(expression: Expression, depth: number): void {
    if (depth > maximalDepth) return;
    switch (expression.kind) {
      case "Lambda":
        this.addFunction(expression, depth);
        return;
      case "Call":
        this.addCall(expression, depth);
        return;
      case "Name":
      case "Attribute":
        this.addReference(expression, depth);
        return;
      default:
    }
  }

  /** `partial(run, …)`, `custom_forward(block)`: what it is given runs; `nn.Sequential(…)`: a layer made on the spot. */
  private addCall(call: Call, depth: number): void {
    const name = this.resolver.qualifiedName(call.callee);
    if (name === "functools.partial") {
      const [target] = call.positional;
      if (target !== undefined) this.addExpression(target, depth + 1);
    } else if (name?.startsWith("torch.nn.") === true || this.resolver.constructedClass(call) !== undefined) {
      this.addConstruction(call, depth);
    } else {
      for (const argument of call.positional) {
        if (this.resolver.roleOf(argument) === "model") this.addExpression(argument, depth + 1);
      }
    }
  }

  private addReference(reference: Expression, depth: number): void {
    const target = this.functionNamed(reference);
    if (target !== undefined) {
      this.addFunction(target, depth);
      return;
    }
    const [only, other] = this.resolver.valuesOf(reference);
    if (other !== undefined) return;
    if (only !== undefined) {
      if (only.kind === "Call" || only.kind === "Lambda") this.addExpression(only, depth + 1);
      return;
    }
    const container = this.containerOf(reference);
    if (container !== undefined) {
      this.addConstruction(container, depth);
      return;
    }
    const object = this.resolver.objectOf(reference);
    if (object?.role !== "model") return;
    if (object.construction !== undefined) this.addConstruction(object.construction, depth);
    else if (object.classDefinition !== undefined) this.addClass(object.classDefinition, depth);
  }

  /** `nn.ModuleList(…)` for `block` in `for block in self.blocks`: any of its elements is meant. */
  private containerOf(reference: Expression): Call | undefined {
    if (reference.kind !== "Name") return undefined;
    const [binding, other] = this.resolver.scopes.lookup(reference);
    if (other !== undefined || binding?.kind !== "for") return undefined;
    let iterable = binding.value;
    if (binding.path[0] === 1 && iterable?.kind === "Call") [iterable] = iterable.positional;
    else if (binding.path.length > 0) return undefined;
    const [made, another] = iterable === undefined ? [] : this.resolver.valuesOf(iterable);
    if (made?.kind !== "Call" || another !== undefined) return undefined;
    return containers.test(this.resolver.qualifiedName(made.callee) ?? "") ? made : undefined;
  }

  private functionNamed(reference: Expression): FunctionDefinition | undefined {
    if (reference.kind === "Name") {
      const [binding, other] = this.resolver.scopes.lookup(reference);
      return other === undefined && binding?.node.kind === "FunctionDefinition" && binding.kind === "function"
        ? binding.node
        : undefined;
    }
    if (reference.kind !== "Attribute") return undefined;
    const owner = this.resolver.classOf(reference.object);
    return owner && this.resolver.methodOf(owner, reference.attribute.id);
  }

  private addConstruction(call: Call, depth: number): void {
    if (depth > maximalDepth) return;
    const constructed = this.resolver.constructedClass(call);
    if (constructed !== undefined) {
      this.addClass(constructed, depth);
      return;
    }
    const name = this.resolver.qualifiedName(call.callee);
    if (name === undefined || !/^torch\.nn\.[A-Z]\w*$/.test(name)) return;
    if (!containers.test(name)) {
      const layer = { name, construction: call };
      this.layers.push(layer);
      if (this.functions.size === 0) this.first ??= layer;
      return;
    }
    for (const element of call.positional.flatMap(elementsOf)) {
      if (element.kind === "Call") this.addConstruction(element, depth + 1);
      else if (element.kind === "Name" || element.kind === "Attribute")
        this.addExpression(element, depth + 1);
    }
  }

  private addClass(definition: ClassDefinition, depth: number): void {
    if (this.classes.has(definition)) return;
    this.classes.add(definition);
    const forward = this.resolver.methodOf(definition, "forward");
    if (forward !== undefined) this.functions.add(forward);
    const initializer = this.resolver.methodOf(definition, "__init__");
    for (const statement of initializer?.body ?? []) {
      if (statement.kind !== "Assign" || statement.value.kind !== "Call") continue;
      if (statement.targets.some(({ kind }) => kind === "Attribute"))
        this.addConstruction(statement.value, depth + 1);
    }
  }

  private addFunction(target: FunctionDefinition | Lambda, depth: number): void {
    if (this.functions.has(target)) return;
    this.functions.add(target);
    for (const call of unconditionalCalls(target)) {
      const { callee } = call;
      if (callee.kind === "Attribute" && this.resolver.classOf(callee.object) !== undefined) {
        this.addExpression(callee, depth + 1);
      } else if (callee.kind === "Name" && this.resolver.roleOf(callee) === "model") {
        this.addExpression(callee, depth + 1);
      }
    }
  }
}

/** `nn.Sequential(a, b)`, `nn.ModuleList([a, b])`, `nn.ModuleList(a for _ in range(n))`, `nn.Sequential(*layers)`. */
function elementsOf(argument: Expression): readonly Expression[] {
  const inner = argument.kind === "Starred" ? argument.value : argument;
  if (inner.kind === "List" || inner.kind === "Tuple") return inner.elements;
  return [inner.kind === "Comprehension" ? inner.element : inner];
}

/** Calls that run each time the function runs. */
function unconditionalCalls(target: FunctionDefinition | Lambda): Call[] {
  const roots: readonly (Statement | Expression)[] = target.kind === "Lambda" ? [target.body] : target.body;
  const calls: Call[] = [];
  for (const root of roots) {
    walk(root, {
      enter(node: Node) {
        if (/^(If|Conditional|FunctionDefinition|ClassDefinition|Lambda|Try|Match)$/.test(node.kind))
          return false;
        if (node.kind === "Call") calls.push(node);
        return undefined;
      },
    });
  }
  return calls;
}
