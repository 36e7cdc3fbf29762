/** Texts that are equal for expressions naming the same variable or attribute: `optimizer`, `self.optimizer`. */
import { NodeTable } from "../python/node-table";
import type { ScopeOwner, Scopes } from "../python/scope";
import type { Attribute, ClassDefinition, Expression, Module, Name } from "../python/tree";

/** Of what names no variable. */
const none = "";

export class VariableKeys {
  private readonly known: NodeTable<Expression, string>;
  private readonly names = new Map<ScopeOwner | string, KeysWithin>();
  private readonly attributes = new Map<ScopeOwner | string, KeysWithin>();
  private readonly scopesOfKeys = new Map<string, ScopeOwner>();

  constructor(
    module: Module,
    private readonly scopes: Scopes,
    /** The class whose instance a name is the `self` of. */
    private readonly classOfSelf: (name: Name) => ClassDefinition | undefined,
  ) {
    this.known = new NodeTable(module);
  }

  /** The key of a name or attribute; `undefined` for anything else. */
  of(expression: Expression): string | undefined {
    if (expression.kind !== "Name" && expression.kind !== "Attribute") return undefined;
    let key = this.known.get(expression);
    if (key === undefined) {
      key = (expression.kind === "Name" ? this.ofName(expression) : this.ofAttribute(expression)) ?? none;
      this.known.set(expression, key);
    }
    return key === none ? undefined : key;
  }

  /** Where the variable of a key lives: all that binds or reads it lies in there. `undefined`: anywhere. */
  scopeOf(key: string): ScopeOwner | undefined {
    return this.scopesOfKeys.get(key);
  }

  private ofName(name: Name): string {
    const owner = this.scopes.lookup(name)[0]?.scope.owner;
    if (owner === undefined) return this.text("scope@?", ":", name.id, undefined);
    return this.text(owner, ":", name.id, owner);
  }

  private ofAttribute(attribute: Attribute): string | undefined {
    if (isLongChain(attribute)) return undefined;
    const { object } = attribute;
    const own = object.kind === "Name" ? this.classOfSelf(object) : undefined;
    if (own !== undefined) return this.text(own, ".", attribute.attribute.id, own);
    const prefix = this.of(object);
    if (prefix === undefined) return undefined;
    return this.text(prefix, ".", attribute.attribute.id, this.scopeOf(prefix));
  }

  private text(
    within: ScopeOwner | string,
    separator: ":" | ".",
    name: string,
    scope: ScopeOwner | undefined,
  ): string {
    const known = separator === ":" ? this.names : this.attributes;
    let keys = known.get(within);
    if (keys === undefined) {
      const prefix = (typeof within === "string" ? within : beginning(within, separator)) + separator;
      known.set(within, (keys = { prefix, texts: new Map() }));
    }
    let text = keys.texts.get(name);
    if (text === undefined) {
      text = keys.prefix + name;
      keys.texts.set(name, text);
      if (scope !== undefined) this.scopesOfKeys.set(text, scope);
    }
    return text;
  }
}

/** Keys that begin alike, by what follows there: one text for all occurrences, since texts are dear to make. */
interface KeysWithin {
  readonly prefix: string;
  readonly texts: Map<string, string>;
}

function beginning(owner: ScopeOwner, separator: ":" | "."): string {
  if (separator === ".") return `class@${owner.start}`;
  return `${owner.kind === "Module" ? "module" : "scope"}@${owner.start}`;
}

const longestChain = 16;

/** Nobody writes `a.b.c…` this long; looking each part of it up anew would take for ever. */
export function isLongChain(expression: Expression): boolean {
  let at = expression;
  for (let length = 0; at.kind === "Attribute"; length++) {
    if (length > longestChain) return true;
    at = at.object;
  }
  return false;
}
