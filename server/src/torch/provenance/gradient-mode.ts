/**
 * Whether autograd records at a point: `with torch.no_grad()`, decorators with and without brackets, statements such as
 * `torch.set_grad_enabled(False)`, and the callers of the function in this file.
 */
import { lastName } from "../../python/last-name";
import type {
  Call,
  ClassDefinition,
  Decorator,
  Expression,
  FunctionDefinition,
  Node,
  Statement,
} from "../../python/tree";
import {
  enclosingFunction,
  enclosingStatement,
  isStatement,
  statementListsOf,
  walk,
} from "../../python/walk";
import { enableGradContext, noGradContexts, setGradEnabled } from "../api";
import { frameworkNoGradHooks } from "../api-kinds";
import type { ImportedFunction } from "../imported";
import { OpenQuestions, type Answers } from "../open-questions";
import type { Resolver } from "../resolve";
import { methodOfImported } from "../resolve-imported";
import { enclosingClass } from "../resolve-index";

/** `unknown`: it depends on a value, or on code that is not in this file. */
export type GradientMode = "on" | "off" | "unknown";

/** What a context manager, a decorator or a statement does; `undefined`: nothing to gradients. */
type Effect = GradientMode | undefined;

export interface GradientModes {
  /** With the callers in this file taken in: `off` only where every one of them turns gradients off. */
  at(node: Node): GradientMode;
  /** By the function's own text only; `undefined` where that says nothing. */
  lexicallyAt(node: Node): Effect;
  /** What an expression does when it is entered as a context manager or stands as a decorator. */
  effectOf(context: Expression): Effect;
  /** What calling a function of this file as a context manager, or decorating with it, does. */
  effectInside(target: FunctionDefinition): Effect;
  /** In which mode the file leaves who imports it. */
  readonly whenImported: Effect;
  /** True for a function of this file whose decorators turn gradients off. */
  isTurnedOffBy(target: FunctionDefinition): boolean;
}

export function createGradientModes(resolver: Resolver): GradientModes {
  return new FileGradientModes(resolver);
}

/** In which mode functions run: of all files, since a base class may be another file's. */
const modeQuestions = new OpenQuestions();

const suspiciousName = /grad|infer|eval|freez|ema|average|teacher|scope|context|ctx|mode/i;

class FileGradientModes implements GradientModes {
  private readonly functions: Answers<FunctionDefinition, Effect> = new Map();
  private readonly statements = new Map<Statement, Effect>();
  /** By block: what the statements before each of its statements have set, as far as that was asked. */
  private readonly blocks = new Map<readonly Statement[], Effect[]>();
  private moduleStatement: { readonly effect: Effect } | undefined;

  constructor(private readonly resolver: Resolver) {}

  at(node: Node): GradientMode {
    return this.effectAt(node) ?? "on";
  }

  lexicallyAt(node: Node): Effect {
    const statement = enclosingStatement(node);
    if (statement === undefined || statement === node) return this.lexicallyFrom(node);
    if (!this.statements.has(statement)) this.statements.set(statement, this.lexicallyFrom(statement));
    return this.statements.get(statement);
  }

  private lexicallyFrom(node: Node): Effect {
    let below: Node = node;
    for (let at = node.parent; at !== undefined; below = at, at = at.parent) {
      if (isStatement(below)) {
        const statement = this.earlierStatement(below, at);
        if (statement !== undefined) return statement;
      }
      const effect = this.effectAround(at, below);
      if (effect !== undefined) return effect;
    }
    return this.constructorEffect(node) ?? this.moduleEffect(node);
  }

  private effectAround(at: Node, below: Node): Effect {
    if (at.kind === "With" && at.body.includes(below as Statement)) {
      return first([...at.items].reverse().map((item) => this.effectOf(item.context)));
    }
    if (at.kind === "FunctionDefinition" && at.body.includes(below as Statement)) {
      return first(at.decorators.map((decorator) => this.effectOfDecorator(decorator)));
    }
    if (at.kind === "Call" && at.callee !== below && at.callee.kind === "Call")
      return this.effectOf(at.callee);
    return undefined;
  }

  /** The nearest statement before this one, in the same block, that sets the mode for what follows. */
  private earlierStatement(statement: Statement, parent: Node): Effect {
    for (const list of statementListsOf(parent)) {
      const place = list.indexOf(statement);
      const effect = place < 0 ? undefined : this.effectBefore(list, place);
      if (effect !== undefined) return effect;
    }
    return undefined;
  }

  /** Looks at each statement of a block once, however many of those behind it are asked about. */
  private effectBefore(list: readonly Statement[], place: number): Effect {
    let before = this.blocks.get(list);
    if (before === undefined) this.blocks.set(list, (before = [undefined]));
    for (let index = before.length; index <= place; index++) {
      before.push(this.effectOfStatement(list[index - 1]) ?? before[index - 1]);
    }
    return before[place];
  }

  private effectOfStatement(statement: Statement | undefined): Effect {
    if (statement?.kind !== "ExpressionStatement" && statement?.kind !== "Assign") return undefined;
    const call = statement.kind === "Assign" ? statement.value : statement.expression;
    if (call.kind !== "Call") return undefined;
    if (this.resolver.qualifiedName(call.callee) === setGradEnabled) return this.effectOf(call);
    if (call.callee.kind !== "Attribute") return undefined;
    const method = call.callee.attribute.id;
    if (method === "__enter__") return this.effectOf(call.callee.object);
    const entered = method === "enter_context" ? call.positional[0] : undefined;
    return entered && this.effectOf(entered);
  }

  /** `torch.set_grad_enabled(False)` in `__init__` holds for the other methods, which run after it. */
  private constructorEffect(node: Node): Effect {
    const owner = this.outermostWithCallers(node);
    const holder = owner && enclosingClass(owner);
    const constructor = holder && this.resolver.methodOf(holder, "__init__");
    if (constructor === undefined || constructor === owner) return undefined;
    return first(constructor.body.map((statement) => this.effectOfStatement(statement)).reverse());
  }

  /** `torch.set_grad_enabled(False)` at module level holds for every function that is called after it. */
  private moduleEffect(node: Node): Effect {
    let inFunction = false;
    for (let at = node.parent; at !== undefined; at = at.parent)
      inFunction ||= at.kind === "FunctionDefinition";
    return inFunction ? this.whenImported : undefined;
  }

  get whenImported(): Effect {
    this.moduleStatement ??= {
      effect: first(
        this.resolver.module.body.map((statement) => this.effectOfStatement(statement)).reverse(),
      ),
    };
    return this.moduleStatement.effect;
  }

  effectOf(context: Expression): Effect {
    return this.effect(context, 0);
  }

  effectInside(target: FunctionDefinition): Effect {
    return this.insideOf(target, 0);
  }

  isTurnedOffBy(target: FunctionDefinition): boolean {
    return target.decorators.some((decorator) => this.effectOfDecorator(decorator) === "off");
  }

  private effect(context: Expression, depth: number): Effect {
    if (depth > 8) return "unknown";
    switch (context.kind) {
      case "Call":
        return this.effectOfCall(context, depth);
      case "Name":
      case "Attribute":
        return this.effectOfReference(context, depth);
      case "Conditional":
        return joined([this.effect(context.body, depth + 1), this.effect(context.orelse, depth + 1)]);
      case "BooleanOperation":
      case "Subscript":
        return "unknown";
      default:
        return undefined;
    }
  }

  private effectOfReference(reference: Expression, depth: number): Effect {
    const name = this.resolver.qualifiedName(reference);
    if (name !== undefined) {
      if (noGradContexts.has(name)) return "off";
      if (name === enableGradContext) return "on";
      if (name.startsWith("torch.")) return undefined;
      const imported = this.resolver.imported.functionNamed(reference);
      if (imported) return effectElsewhere(imported);
      return byName(name.split(".").at(-1));
    }
    const values = this.resolver.valuesOf(reference);
    if (values.length > 0) return joined(values.map((value) => this.effect(value, depth + 1)));
    return byName(
      reference.kind === "Name" ? reference.id : reference.kind === "Attribute" ? reference.attribute.id : "",
    );
  }

  private effectOfCall(call: Call, depth: number): Effect {
    const name = this.resolver.qualifiedName(call.callee);
    const [argument] = call.positional.length > 0 ? call.positional : call.keywords.map(({ value }) => value);
    if (name !== undefined) {
      if (name === setGradEnabled) return booleanOf(argument) ?? "unknown";
      if (name === "torch.inference_mode")
        return argument === undefined ? "off" : (booleanOf(argument, true) ?? "unknown");
      if (noGradContexts.has(name)) return "off";
      if (name === enableGradContext) return "on";
      if (name === "contextlib.nullcontext") return undefined;
      if (/^(torch|contextlib|builtins|tqdm|threading|time|warnings|tempfile)\./.test(name)) return undefined;
    }
    const target = this.resolver.functionOf(call);
    if (target) return this.insideOf(target, depth);
    const imported = this.resolver.imported.functionOf(call);
    if (imported) return effectElsewhere(imported);
    const manager = this.entered(call);
    if (manager) return manager.effect;
    if (name !== undefined) return byName(name.split(".").at(-1));
    const callee = call.callee;
    if (callee.kind === "Call" || callee.kind === "Conditional") return this.effect(callee, depth + 1);
    const values = this.resolver.valuesOf(callee);
    if (values.length > 0) return joined(values.map((value) => this.effect(value, depth + 1)));
    return byName(lastName(callee) ?? "");
  }

  /** What entering an instance of a class of this or another file does; `undefined` when the class is not known. */
  private entered(call: Call): { readonly effect: Effect } | undefined {
    const owner = this.resolver.constructedClass(call);
    const method = owner && this.resolver.methodOf(owner, "__enter__");
    if (method) return { effect: this.insideOf(method, 1) };
    const imported = owner
      ? this.resolver.imported.methodOf(owner, "__enter__")
      : methodOfImported(this.resolver.imported.classNamed(call.callee), "__enter__");
    return imported && { effect: effectElsewhere(imported) };
  }

  /** A context manager or decorator written in this file: what does its own text turn on or off? */
  private insideOf(target: FunctionDefinition, depth: number): Effect {
    let effect: Effect;
    walk(target, {
      enter: (node) => {
        if (effect !== undefined) return false;
        if (node.kind === "With")
          effect = first(node.items.map((item) => this.effect(item.context, depth + 1)));
        if (node.kind === "ExpressionStatement") effect ??= this.effectOfStatement(node);
        if (node.kind === "Return" && node.value?.kind === "Call")
          effect ??= this.effect(node.value, depth + 1);
        return undefined;
      },
    });
    return effect;
  }

  private effectOfDecorator(decorator: Decorator): Effect {
    const { expression } = decorator;
    if (expression.kind === "Name") {
      const [binding] = this.resolver.scopes.lookup(expression);
      const definition = binding?.kind === "function" ? binding.node : undefined;
      if (definition?.kind === "FunctionDefinition") return this.insideOf(definition, 0);
    }
    return this.effect(expression, 0);
  }

  /** The function whose callers decide: nested functions run where the function around them runs, unless called. */
  private outermostWithCallers(node: Node): FunctionDefinition | undefined {
    for (let at = node.parent; at !== undefined; at = at.parent) {
      if (at.kind === "FunctionDefinition") return at;
    }
    return undefined;
  }

  /** `undefined` where only functions run it whose own callers are still being asked: such a call adds nothing new. */
  private ofFunction(owner: FunctionDefinition): Effect {
    return modeQuestions.answer(this.functions, owner, undefined, (asked) => this.fromCallers(asked));
  }

  /** The modes in which bases that other files define call a method of a class of this file. */
  private fromBases(holder: ClassDefinition, method: string): GradientMode[] {
    const modes: GradientMode[] = [];
    const seen = new Set<ClassDefinition>();
    const pending = [...this.resolver.imported.basesOf(holder)];
    for (let base = pending.pop(); base !== undefined; base = pending.pop()) {
      const { definition, file } = base;
      if (seen.has(definition)) continue;
      seen.add(definition);
      const { resolve, provenance } = file.torch;
      const classes = resolve.withBases(definition);
      for (const call of resolve.index.callsByName.get(method) ?? []) {
        const around = enclosingFunction(call);
        const within = around?.kind === "FunctionDefinition" ? enclosingClass(around) : undefined;
        if (within && classes.includes(within) && isCallOfSelf(call))
          modes.push(provenance.gradientMode(call));
      }
      pending.push(...resolve.imported.basesOf(definition));
    }
    return modes;
  }

  private fromCallers(owner: FunctionDefinition): Effect {
    const holder = enclosingClass(owner);
    if (holder && frameworkNoGradHooks.has(owner.name.id) && holder.bases.length > 0) return "off";
    // A call inside the function itself runs in the mode its other callers chose; `self.optimizer.step()` in a method
    // called `step` may not even be one.
    const calls = this.resolver.callsTo(owner).filter((call) => enclosingFunction(call) !== owner);
    const inherited = holder ? this.fromBases(holder, owner.name.id) : [];
    if (calls.length === 0 && inherited.length === 0) {
      const around = this.outermostWithCallers(owner);
      return around === undefined ? "on" : this.ofFunction(around);
    }
    const modes = [...calls.map((call) => this.effectAt(call)), ...inherited].filter(
      (mode) => mode !== undefined,
    );
    if (modes.includes("on")) return "on";
    if (modes.length === 0) return undefined;
    return modes.every((mode) => mode === "off") ? "off" : "unknown";
  }

  /** `undefined` where it is being asked who calls the function. */
  private effectAt(node: Node): Effect {
    const own = this.lexicallyAt(node);
    if (own !== undefined) return own;
    const owner = this.outermostWithCallers(node);
    return owner === undefined ? "on" : this.ofFunction(owner);
  }
}

/** `self.validate()`: the method may be that of a class that inherits from the one around the call. */
function isCallOfSelf(call: Call): boolean {
  const { callee } = call;
  return callee.kind === "Attribute" && callee.object.kind === "Name" && callee.object.id === "self";
}

function effectElsewhere({ definition, file }: ImportedFunction): Effect {
  return file.torch.provenance.modes.effectInside(definition);
}

function first(effects: readonly Effect[]): Effect {
  return effects.find((effect) => effect !== undefined);
}

function joined(effects: readonly Effect[]): Effect {
  const [one, ...others] = effects;
  return others.every((other) => other === one) ? one : "unknown";
}

/** `inverted`: what `inference_mode(x)` does, which turns gradients off when `x` is true. */
function booleanOf(argument: Expression | undefined, inverted = false): GradientMode | undefined {
  if (argument?.kind !== "Boolean") return undefined;
  return argument.value !== inverted ? "on" : "off";
}

function byName(name: string | undefined): Effect {
  if (name === undefined || /autocast|no_sync|^tqdm|profil|record_function|timer|lock/i.test(name))
    return undefined;
  return suspiciousName.test(name) ? "unknown" : undefined;
}
