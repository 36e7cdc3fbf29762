/** Which models were told that none of their parameters require gradients. */
import type {
  Attribute,
  Call,
  ClassDefinition,
  Expression,
  FunctionDefinition,
  Node,
  Statement,
} from "../python/tree";
import { enclosingLoop, someNode } from "../python/walk";
import { modelWrappers, roleKeepingMethods } from "./api";
import { mayBeFrozen } from "./may-be-frozen";
import type { Resolver } from "./resolve";
import { methodOfImported } from "./resolve-imported";
import { lastPart } from "./resolve-index";

export class FrozenModels {
  private frozen: ReadonlySet<string> | undefined;
  private readonly byConstructor = new Map<ClassDefinition, boolean>();

  constructor(private readonly resolver: Resolver) {}

  /** True for a model frozen as a whole, followed through assignments, arguments and wrappers. */
  isFrozen(expression: Expression): boolean {
    this.frozen ??= this.collectFrozen();
    const seen = new Set<Expression>();
    const pending: Expression[] = [expression];
    for (let at = pending.pop(); at !== undefined && seen.size < 50; at = pending.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (freezes(at)) return true;
      const key = this.resolver.keyOf(at);
      if (key !== undefined && this.frozen.has(key)) return true;
      if (this.isFrozenWhereMade(at) || this.isFrozenByConstructor(at)) return true;
      if (at.kind === "Call") pending.push(...this.sourcesOfCall(at));
      else if (at.kind === "Subscript" && at.index.kind === "Slice") pending.push(at.object);
      else pending.push(...this.resolver.valuesOf(at), ...this.argumentsOf(at), ...this.partsOfResults(at));
      if (at.kind === "Attribute" && this.frozenOwner(at)) return true;
    }
    return false;
  }

  /** The other file that makes the model may switch its gradients off, as far as its text tells. */
  private isFrozenWhereMade(model: Expression): boolean {
    if (model.kind !== "Name" && model.kind !== "Attribute") return false;
    return this.resolver.imported
      .variablesNamed(model)
      .some(({ target, file }) => mayBeFrozen(file.torch, target));
  }

  /** The constructor of its class freezes all of it, and makes no part behind that. */
  private isFrozenByConstructor(model: Expression): boolean {
    const { classDefinition, importedClass } = this.resolver.objectOf(model) ?? {};
    const owner = classDefinition ?? importedClass?.definition;
    if (owner === undefined) return false;
    let isFrozen = this.byConstructor.get(owner);
    if (isFrozen === undefined) {
      const constructor = classDefinition
        ? this.resolver.methodOf(classDefinition, "__init__")
        : methodOfImported(importedClass, "__init__")?.definition;
      isFrozen = constructor !== undefined && endsFrozen(constructor);
      this.byConstructor.set(owner, isFrozen);
    }
    return isFrozen;
  }

  /** `teacher.encoder` of a frozen `teacher`. */
  private frozenOwner(attribute: Attribute): boolean {
    const key = this.resolver.keyOf(attribute.object);
    return key !== undefined && this.frozen?.has(key) === true;
  }

  private sourcesOfCall(call: Call): Expression[] {
    if (call.callee.kind === "Attribute" && roleKeepingMethods.has(call.callee.attribute.id))
      return [call.callee.object];
    const name = this.resolver.qualifiedName(call.callee);
    if (name !== undefined && modelWrappers.has(name)) return call.positional.slice(0, 1);
    const target = this.resolver.functionOf(call);
    return target ? [...this.resolver.returnedValues(target)] : [];
  }

  /** `backbone` of `backbone, head = build()`, where `build` returns a display of both. */
  private partsOfResults(expression: Expression): Expression[] {
    if (expression.kind !== "Name") return [];
    return this.resolver.scopes.lookup(expression).flatMap(({ value, path }) => {
      const [index, ...deeper] = path;
      if (value?.kind !== "Call" || index === undefined || deeper.length > 0) return [];
      const target = this.resolver.functionOf(value);
      if (target === undefined) return [];
      return this.resolver
        .returnedValues(target)
        .flatMap((given) => (given.kind === "Tuple" ? (given.elements.at(index) ?? []) : []));
    });
  }

  private argumentsOf(expression: Expression): Expression[] {
    if (expression.kind !== "Name") return [];
    return this.resolver.scopes.lookup(expression).flatMap((binding) => {
      const owner = binding.scope.owner;
      if (binding.kind !== "parameter" || owner.kind !== "FunctionDefinition") return [];
      return this.resolver
        .callsTo(owner)
        .flatMap((call) => this.resolver.argumentFor(call, owner, binding.name) ?? []);
    });
  }

  /**
   * `model.freeze()` of Lightning, which takes every parameter's gradients (`LightningModule.freeze`); a method of that name
   * that somebody wrote may leave a part out.
   */
  private freezesWhole({ positional, keywords }: Call, model: Expression): boolean {
    if (positional.length + keywords.length > 0) return false;
    const { classDefinition, importedClass } = this.resolver.objectOf(model) ?? {};
    const own =
      (classDefinition && this.resolver.methodOf(classDefinition, "freeze")) ??
      (classDefinition && this.resolver.imported.methodOf(classDefinition, "freeze")?.definition) ??
      (importedClass && methodOfImported(importedClass, "freeze")?.definition);
    return own === undefined || freezesItself(own);
  }

  private collectFrozen(): ReadonlySet<string> {
    const frozen = new Set<string>();
    const note = (expression: Expression): void => {
      const key = this.resolver.keyOf(expression);
      if (key !== undefined) frozen.add(key);
    };
    for (const call of this.resolver.index.callsByName.get("requires_grad_") ?? []) {
      if (call.callee.kind === "Attribute" && givesFalse(call)) {
        note(call.callee.object);
        const model = parametersOwnerOfLoopVariable(call.callee.object);
        if (model && isUnconditional(call)) note(model);
      }
    }
    for (const call of this.resolver.index.callsByName.get("freeze") ?? []) {
      if (call.callee.kind === "Attribute" && this.freezesWhole(call, call.callee.object))
        note(call.callee.object);
    }
    for (const store of this.resolver.index.attributeStores) {
      if (store.target.kind !== "Attribute" || store.target.attribute.id !== "requires_grad") continue;
      if (store.value?.kind !== "Boolean" || store.value.value) continue;
      const model = parametersOwnerOfLoopVariable(store.target.object);
      if (model && isUnconditional(store.target)) note(model);
    }
    return frozen;
  }
}

/** Its last statements freeze everything: nothing is assigned to `self` behind them. */
function endsFrozen({ body }: FunctionDefinition): boolean {
  const last = body.findLastIndex((statement) => freezesItself(statement));
  return last >= 0 && !body.slice(last + 1).some(assignsPart);
}

/** `self.head = nn.Linear(…)`, also under a condition. */
function assignsPart(statement: Statement): boolean {
  return someNode(
    statement,
    (node) =>
      node.kind === "Assign" &&
      node.targets.some(
        (target) =>
          target.kind === "Attribute" && target.object.kind === "Name" && target.object.id === "self",
      ),
  );
}

/** `for parameter in self.parameters(): parameter.requires_grad = False`. */
function freezesItself(within: FunctionDefinition | Statement): boolean {
  return someNode(within, (node) => {
    const variable =
      node.kind === "Assign" && node.value.kind === "Boolean" && !node.value.value
        ? node.targets.find(
            (target) => target.kind === "Attribute" && target.attribute.id === "requires_grad",
          )
        : node.kind === "Call" && lastPart(node.callee) === "requires_grad_" && givesFalse(node)
          ? node.callee
          : undefined;
    if (variable?.kind !== "Attribute" || !isUnconditional(variable)) return false;
    const model = parametersOwnerOfLoopVariable(variable.object) ?? variable.object;
    return model.kind === "Name" && model.id === "self";
  });
}

function givesFalse(call: Call): boolean {
  const value = call.positional[0] ?? call.keywords.find(({ name }) => name.id === "requires_grad")?.value;
  return value?.kind === "Boolean" && !value.value;
}

/** `Net().requires_grad_(False)` anywhere in a chain of role-keeping calls. */
function freezes(expression: Expression): boolean {
  return (
    expression.kind === "Call" &&
    expression.callee.kind === "Attribute" &&
    expression.callee.attribute.id === "requires_grad_" &&
    givesFalse(expression)
  );
}

/** The model of `for p in model.parameters(): … p …`. */
function parametersOwnerOfLoopVariable(variable: Expression): Expression | undefined {
  if (variable.kind !== "Name") return undefined;
  const loop = enclosingLoop(variable);
  if (loop?.kind !== "For" || loop.iterable.kind !== "Call" || loop.iterable.callee.kind !== "Attribute")
    return undefined;
  const method = loop.iterable.callee.attribute.id;
  const bound =
    method === "parameters" ? loop.target : method === "named_parameters" ? secondOf(loop.target) : undefined;
  return bound?.kind === "Name" && bound.id === variable.id ? loop.iterable.callee.object : undefined;
}

function secondOf(target: Expression): Expression | undefined {
  return target.kind === "Tuple" ? target.elements[1] : undefined;
}

/** True when no `if` stands between a node and its loop: a filter freezes a part only. */
function isUnconditional(node: Node): boolean {
  for (let at = node.parent; at !== undefined && at.kind !== "For"; at = at.parent) {
    if (at.kind === "If") return false;
  }
  return true;
}
