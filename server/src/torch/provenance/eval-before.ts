/** Which mode a model was put into before a forward: the nearest `eval()` or `train()` of it that surely ran. */
import type {
  Attribute,
  Call,
  Expression,
  FunctionDefinition,
  Module,
  Name,
  Node,
  Statement,
} from "../../python/tree";
import { ancestors, enclosingFunction, someNode, statementListsOf } from "../../python/walk";
import type { Resolver } from "../resolve";
import { baseOfChain, modeInChain, trainingFlag } from "./mode-switches";

export type Body = FunctionDefinition | Module;

/** A block of statements, and where in it a forward stands. */
export interface Place {
  readonly block: readonly Statement[];
  readonly index: number;
}

export class ModesBefore {
  constructor(private readonly resolver: Resolver) {}

  /** The nearest `model.eval()` or `model.train()` that runs before a forward, in its block or one around it. */
  before(call: Call, model: Expression, body: Body): { call: Call; place: Place } | "training" | undefined {
    const key = this.modelKey(model);
    if (key === undefined) return undefined;
    let below: Node = call;
    for (const at of ancestors(call)) {
      for (const list of statementListsOf(at)) {
        const index = list.indexOf(below as Statement);
        for (let before = index - 1; before >= 0; before--) {
          const statement = list[before];
          const found = this.modeSetBy(statement, key);
          if (found === undefined && statement !== undefined && this.isMadeAnew(statement, key))
            return undefined;
          if (found === undefined) continue;
          if (found.training) return "training";
          return { call: found.call, place: { block: list, index } };
        }
      }
      if (at === body) return undefined;
      below = at;
    }
    return undefined;
  }

  private modeSetBy(
    statement: Statement | undefined,
    key: string,
  ): { call: Call; training: boolean } | undefined {
    if (statement?.kind === "Assign") return this.modeOfAssigned(statement.targets, statement.value, key);
    const call = statement?.kind === "ExpressionStatement" ? statement.expression : undefined;
    if (call?.kind !== "Call" || call.callee.kind !== "Attribute") return undefined;
    const training = trainingFlag(call);
    if (training === undefined || !this.isSameModel(this.modelKey(baseOfChain(call)), key)) return undefined;
    return { call, training };
  }

  /** `model = Net()`: what was called on the one before says nothing of this one. `model = model.to(device)` is the same. */
  private isMadeAnew(statement: Statement, key: string): boolean {
    if (statement.kind !== "Assign") return false;
    const { targets, value } = statement;
    const bound = targets.flatMap((target) => (target.kind === "Tuple" ? target.elements : [target]));
    if (!bound.some((target) => isReference(target) && this.resolver.keyOf(target) === key)) return false;
    return !someNode(value, (part) => isReference(part) && this.modelKey(part) === key);
  }

  /** `model = Net().cuda().eval()`. */
  private modeOfAssigned(
    targets: readonly Expression[],
    value: Expression,
    key: string,
  ): { call: Call; training: boolean } | undefined {
    if (value.kind !== "Call" || !targets.some((target) => this.modelKey(target) === key)) return undefined;
    return modeInChain(value) ?? this.modeOfReturned(value);
  }

  /** `model = load()` where `load` puts what it returns into eval mode. */
  private modeOfReturned(call: Call): { call: Call; training: boolean } | undefined {
    const target = this.resolver.functionOf(call);
    const [returned, ...others] = target ? this.resolver.returnedValues(target) : [];
    if (target === undefined || returned === undefined || others.length > 0) return undefined;
    const inChain = modeInChain(returned);
    if (inChain || returned.kind === "Call") return inChain;
    const key = this.modelKey(returned);
    for (const method of ["eval", "train"]) {
      for (const one of this.resolver.index.callsByName.get(method) ?? []) {
        const training = trainingFlag(one);
        if (training === undefined || enclosingFunction(one) !== target) continue;
        if (key !== undefined && this.modelKey(baseOfChain(one)) === key) return { call: one, training };
      }
    }
    return undefined;
  }

  private modelKey(expression: Expression): string | undefined {
    let at = expression;
    while (at.kind === "Attribute" && (at.attribute.id === "module" || at.attribute.id === "_orig_mod"))
      at = at.object;
    while (at.kind === "Subscript") at = at.object;
    return this.resolver.keyOf(at);
  }

  /** `self.eval()` puts `self.net` into eval mode too. */
  private isSameModel(receiver: string | undefined, key: string): boolean {
    if (receiver === undefined) return false;
    return receiver === key || key.startsWith(`${receiver}.`);
  }
}

function isReference(node: Node): node is Name | Attribute {
  return node.kind === "Name" || node.kind === "Attribute";
}
