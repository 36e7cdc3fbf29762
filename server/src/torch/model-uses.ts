/** Models that are known by what a file does with them: their parameters go to an optimizer, or they are put into eval mode and saved. */
import { lastName } from "../python/last-name";
import type { Attribute, Call, Name } from "../python/tree";
import type { Resolver } from "./resolve";
import { bySource } from "./resolve-index";

const modelMethods: readonly string[] = [
  "parameters",
  "named_parameters",
  "modules",
  "named_modules",
  "load_state_dict",
  "state_dict",
  "eval",
  "train",
];

/** Methods that together only `nn.Module` has. */
function isProof(methods: ReadonlySet<string>): boolean {
  if (["parameters", "named_parameters", "named_modules"].some((name) => methods.has(name))) return true;
  return methods.has("eval") && (methods.has("load_state_dict") || methods.has("state_dict"));
}

export class ModelUses {
  private used: ReadonlyMap<string, Call> | undefined;
  private names: ReadonlySet<string | undefined> | undefined;

  constructor(private readonly resolver: Resolver) {}

  /** The call that shows that the variable holds a model. */
  of(expression: Name | Attribute): Call | undefined {
    this.used ??= this.collect();
    const key = this.resolver.keyOf(expression);
    const use = key === undefined ? undefined : this.used.get(key);
    return use === undefined || this.isOfOwnFramework(expression) ? undefined : use;
  }

  /** Whether any attribute of the name is used as a model. */
  hasAttribute(name: string): boolean {
    return (this.names ??= this.namesOfAttributes()).has(name);
  }

  private namesOfAttributes(): ReadonlySet<string | undefined> {
    const uses = [...(this.used ??= this.collect()).values()];
    return new Set(
      uses.map(({ callee }) => (callee.kind === "Attribute" ? lastName(callee.object) : undefined)),
    );
  }

  /** `class Net(nn.Module)` where `nn` is a file of the workspace with a `Module` that derives from nothing: no PyTorch. */
  private isOfOwnFramework(expression: Name | Attribute): boolean {
    const owner = this.resolver.classOf(expression);
    if (owner === undefined || this.resolver.isModuleClass(owner)) return false;
    const here = this.resolver.withBases(owner).filter((one) => one !== owner);
    const elsewhere = this.resolver.imported.basesOf(owner).map(({ definition }) => definition);
    return [...here, ...elsewhere].some(({ name, bases }) => name.id === "Module" && bases.length === 0);
  }

  private collect(): ReadonlyMap<string, Call> {
    const used = new Map<string, Call>();
    const methods = new Map<string, Set<string>>();
    const { callsByName } = this.resolver.index;
    const calls = modelMethods.flatMap((method) => callsByName.get(method) ?? []);
    for (const call of calls.sort(bySource)) {
      if (call.callee.kind !== "Attribute") continue;
      const method = call.callee.attribute.id;
      const key = this.resolver.keyOf(call.callee.object);
      if (key === undefined || this.resolver.qualifiedName(call.callee.object) !== undefined) continue;
      const seen = methods.get(key) ?? new Set<string>();
      methods.set(key, seen.add(method));
      if (isProof(seen) && !used.has(key)) used.set(key, call);
    }
    return used;
  }
}
