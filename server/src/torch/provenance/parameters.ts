/** Whether the model classes of a file have parameters of their own, as far as their attributes show. */
import type { Call, ClassDefinition } from "../../python/tree";
import { parameterFreeModules } from "../api";
import { isModuleBase } from "../api-kinds";
import type { Resolver } from "../resolve";
import { push, type AttributeStore } from "../resolve-index";

export interface ModuleParameters {
  /** True when nothing that we understand gives instances of the class parameters. */
  showsNone(owner: ClassDefinition): boolean;
  /** True when instances surely have none: all that the class keeps is understood. */
  surelyNone(owner: ClassDefinition): boolean;
}

export function createModuleParameters(resolver: Resolver): ModuleParameters {
  return new FileParameters(resolver);
}

/** The attributes that a file binds: those of `self` by their class, which needs nothing to be followed, and the others. */
interface StoresByObject {
  readonly ofSelf: ReadonlyMap<ClassDefinition, readonly AttributeStore[]>;
  readonly ofOthers: readonly AttributeStore[];
}

function storesByObject(resolver: Resolver): StoresByObject {
  const ofSelf = new Map<ClassDefinition, AttributeStore[]>();
  const ofOthers: AttributeStore[] = [];
  for (const store of resolver.index.attributeStores) {
    const object = store.target.kind === "Attribute" ? store.target.object : undefined;
    const owner = object?.kind === "Name" ? resolver.classOfSelf(object) : undefined;
    if (owner !== undefined) push(ofSelf, owner, store);
    else ofOthers.push(store);
  }
  return { ofSelf, ofOthers };
}

/** What gives numbers, flags and texts, whatever it is given. */
const plainValues = /^(builtins\.(bool|int|float|str|len|round|hasattr|isinstance)|math\.\w+)$/;

/** Methods that tensors have and modules do not. */
const shapingMethods =
  /^(transpose|t|permute|view|reshape|flatten|unsqueeze|squeeze|expand|repeat|contiguous|detach|clone|numpy|long|int)$/;

class FileParameters implements ModuleParameters {
  private readonly shown = new Map<ClassDefinition, boolean>();
  private readonly sure = new Map<ClassDefinition, boolean>();
  private stores: StoresByObject | undefined;

  constructor(private readonly resolver: Resolver) {}

  showsNone(owner: ClassDefinition): boolean {
    const known = this.shown.get(owner);
    if (known !== undefined) return known;
    this.shown.set(owner, true);
    const none =
      this.isPlainModule(owner) &&
      !this.storesOf(owner).some(({ value }) => {
        if (value?.kind !== "Call") return false;
        const name = this.resolver.qualifiedName(value.callee);
        if (name === "torch.nn.Parameter") return true;
        return this.resolver.roleOf(value) === "model" && !this.makesSurelyNone(value);
      });
    this.shown.set(owner, none);
    return none;
  }

  surelyNone(owner: ClassDefinition): boolean {
    const known = this.sure.get(owner);
    if (known !== undefined) return known;
    this.sure.set(owner, false);
    const { resolver } = this;
    const adds = ["register_parameter", "add_module", "register_module", "setattr"].some((method) =>
      (resolver.index.callsByName.get(method) ?? []).some(
        ({ start, end }) => owner.start <= start && end <= owner.end,
      ),
    );
    const none =
      !adds &&
      this.isPlainModule(owner) &&
      resolver.imported.basesOf(owner).length === 0 &&
      resolver
        .withBases(owner)
        .every((one) =>
          this.storesOf(one).every(({ value }) => value === undefined || this.holdsNone(value)),
        );
    this.sure.set(owner, none);
    return none;
  }

  private holdsNone(value: Exclude<AttributeStore["value"], undefined>): boolean {
    switch (value.kind) {
      case "Call":
        return (
          plainValues.test(this.resolver.qualifiedName(value.callee) ?? "") ||
          this.makesSurelyNone(value) ||
          this.isTensorOfPlain(value)
        );
      case "Name":
        // `self.size = size`; a module that is handed in has a role.
        return this.resolver.roleOf(value) === undefined;
      case "Integer":
      case "Float":
      case "String":
      case "Boolean":
      case "None":
      case "BinaryOperation":
      case "Comparison":
        return true;
      default:
        return false;
    }
  }

  /** `mapping.transpose(0, 1)`: a new tensor, of which nothing is a parameter. */
  private isTensorOfPlain({ callee }: Call): boolean {
    return (
      callee.kind === "Attribute" && shapingMethods.test(callee.attribute.id) && this.holdsNone(callee.object)
    );
  }

  /** `nn.ReLU()`, `self.stft = STFT()` of a class without parameters. */
  private makesSurelyNone(value: Call): boolean {
    const name = this.resolver.qualifiedName(value.callee);
    if (name !== undefined && parameterFreeModules.has(name)) return true;
    const made = this.resolver.objectOf(value);
    if (made?.classDefinition) return this.surelyNone(made.classDefinition);
    if (made?.importedClass === undefined) return false;
    const { definition, file } = made.importedClass;
    return file.torch.provenance.parameters.surelyNone(definition);
  }

  /** Derived from `nn.Module` and nothing that may bring parameters along. */
  private isPlainModule(owner: ClassDefinition): boolean {
    return !this.resolver.basesOf(owner).some((base) => isModuleBase(base) && base !== "torch.nn.Module");
  }

  private storesOf(owner: ClassDefinition): readonly AttributeStore[] {
    const { resolver } = this;
    this.stores ??= storesByObject(resolver);
    const ofOthers = this.stores.ofOthers.filter(
      ({ target }) => target.kind === "Attribute" && resolver.classOf(target.object) === owner,
    );
    return [...(this.stores.ofSelf.get(owner) ?? []), ...ofOthers];
  }
}
