/**
 * Where values come from and what becomes of their graph: does a value carry one, has a backward freed it, does a later
 * backward need it, are gradients recorded here. Everything is computed on first use.
 */
import type { Call, Expression, FunctionDefinition, Node } from "../python/tree";
import { callsWithoutBackward } from "./provenance/both-modes";
import { createCarriedValues, type CarriedValues } from "./provenance/carried";
import { libraryBackwards } from "./provenance/differentiating-libraries";
import { evaluationPasses, type EvaluationPass } from "./provenance/evaluation";
import { createFlow, type Flow } from "./provenance/flow";
import { graphCallsOf } from "./provenance/graph-calls";
import { createGraphSources } from "./provenance/graph-sources";
import { createGradientModes, type GradientMode, type GradientModes } from "./provenance/gradient-mode";
import { createGradientUse, type GradientUse } from "./provenance/gradient-use";
import { handedStores, keptArguments } from "./provenance/keepers";
import { keptValues, type KeptValue } from "./provenance/kept";
import { keptInHooks } from "./provenance/kept-in-hooks";
import { createNeeded, type Needed } from "./provenance/needed";
import { importedBackwards } from "./provenance/imported-backwards";
import { createModuleParameters, type ModuleParameters } from "./provenance/parameters";
import { createReach, type Reach } from "./provenance/reach";
import { backwardCalls, type BackwardCall } from "./provenance/sinks";
import { collectStores, type Store } from "./provenance/stores";
import type { Carried, ParameterUse, Path } from "./provenance/value";
import type { FrameworkFacts } from "./frameworks";
import type { Resolver } from "./resolve";
import { push } from "./resolve-index";

export type {
  BackwardCall,
  Carried,
  EvaluationPass,
  Flow,
  GradientMode,
  GradientModes,
  KeptValue,
  Needed,
  Reach,
  Store,
};

export interface Provenance {
  /** Whether the value of an expression carries a graph, with the callers in this file taken in. */
  carried(expression: Expression, path?: Path): Carried;
  /** The same by the function's own text; parameters stay open. */
  carriedHere(expression: Expression, path?: Path): Carried;
  /** Every call that began a part of the graph that a backward of the value walks, models behind models included. */
  graphCalls(value: Expression): ReadonlySet<Node>;
  /** Which model classes have parameters. */
  readonly parameters: ModuleParameters;
  /** Whether autograd records at a node. */
  gradientMode(node: Node): GradientMode;
  readonly modes: GradientModes;
  readonly flow: Flow;
  readonly reach: Reach;
  readonly needed: Needed;
  readonly gradientUse: GradientUse;
  /** All backward calls in source order, those that functions of other files run on their arguments included. */
  readonly backwards: readonly BackwardCall[];
  /** Those that this file writes out. */
  readonly ownBackwards: readonly BackwardCall[];
  /** Calls of functions that train or evaluate as a parameter says, where it says to evaluate: they run no backward. */
  readonly withoutBackward: ReadonlySet<Call>;
  /** Appends, running sums and other places that may keep a value. */
  readonly stores: readonly Store[];
  /** Values with a graph that outlive their iteration. */
  readonly kept: readonly KeptValue[];
  /** The arguments that a method keeps with their graph in its object, for files that call it. */
  keptArguments(method: FunctionDefinition): readonly ParameterUse[];
  /** Evaluation passes that run with gradients on. */
  readonly evaluationPasses: readonly EvaluationPass[];
}

/** `frameworks` is asked only where something is kept. */
export function createProvenance(resolver: Resolver, frameworks: () => FrameworkFacts): Provenance {
  return new FileProvenance(resolver, frameworks);
}

class FileProvenance implements Provenance {
  private readonly resolver: Resolver;
  private readonly calls = new Map<Expression, ReadonlySet<Node>>();
  private readonly keepers = new Map<FunctionDefinition, readonly ParameterUse[]>();
  private readonly lazy: {
    flow?: Flow;
    modes?: GradientModes;
    reach?: Reach;
    needed?: Needed;
    gradientUse?: GradientUse;
    parameters?: ModuleParameters;
    backwards?: readonly BackwardCall[];
    ownBackwards?: readonly BackwardCall[];
    stores?: readonly Store[];
    byKey?: ReadonlyMap<string, readonly Store[]>;
    carried?: CarriedValues;
    kept?: readonly KeptValue[];
    passes?: readonly EvaluationPass[];
    withoutBackward?: ReadonlySet<Call>;
  } = {};

  constructor(
    resolver: Resolver,
    private readonly frameworks: () => FrameworkFacts,
  ) {
    this.resolver = resolver;
  }

  carried(expression: Expression, path: Path = []): Carried {
    return this.values.closed(expression, path);
  }

  carriedHere(expression: Expression, path: Path = []): Carried {
    return this.values.of(expression, path);
  }

  graphCalls(value: Expression): ReadonlySet<Node> {
    let calls = this.calls.get(value);
    if (calls === undefined) this.calls.set(value, (calls = graphCallsOf(value, this.values)));
    return calls;
  }

  get parameters(): ModuleParameters {
    return (this.lazy.parameters ??= createModuleParameters(this.resolver));
  }

  gradientMode(node: Node): GradientMode {
    return this.modes.at(node);
  }

  get flow(): Flow {
    return (this.lazy.flow ??= createFlow(this.resolver));
  }

  get modes(): GradientModes {
    return (this.lazy.modes ??= createGradientModes(this.resolver));
  }

  get reach(): Reach {
    return (this.lazy.reach ??= createReach(this.resolver));
  }

  get backwards(): readonly BackwardCall[] {
    return (this.lazy.backwards ??= [
      ...this.ownBackwards,
      ...importedBackwards(this.resolver),
      ...libraryBackwards(this.resolver),
    ].sort((a, b) => a.call.start - b.call.start));
  }

  get ownBackwards(): readonly BackwardCall[] {
    return (this.lazy.ownBackwards ??= backwardCalls(this.resolver));
  }

  get withoutBackward(): ReadonlySet<Call> {
    return (this.lazy.withoutBackward ??= callsWithoutBackward(this.resolver, this));
  }

  get stores(): readonly Store[] {
    return (this.lazy.stores ??= collectStores(this.resolver));
  }

  get needed(): Needed {
    if (this.lazy.needed) return this.lazy.needed;
    const { resolver, flow, backwards, byKey: stores } = this;
    return (this.lazy.needed = createNeeded({ resolver, flow, backwards, stores }));
  }

  get gradientUse(): GradientUse {
    return (this.lazy.gradientUse ??= createGradientUse(this.resolver, this.reach));
  }

  get kept(): readonly KeptValue[] {
    if (this.lazy.kept) return this.lazy.kept;
    const { resolver, flow, needed, reach, backwards } = this;
    const assigned = this.stores.flatMap(({ statement }) =>
      statement.kind === "Assign" ? statement.targets.map((element) => ({ statement, element })) : [],
    );
    const handed = handedStores(resolver, backwards);
    const stores = [...this.stores, ...handed];
    const inHooks = keptInHooks(this.stores, {
      resolver,
      flow,
      carried: this.values,
      frameworks: this.frameworks(),
      backwards,
      walkedFrom: (value) => this.graphCalls(value),
    });
    const inLoops = keptValues(stores, {
      resolver,
      flow,
      carried: this.values,
      needed,
      reach,
      sources: createGraphSources({ resolver, reach, backwarded: this.values.proven().keys() }),
      backwards,
      withoutBackward: () => this.withoutBackward,
      gradientMode: (node) => this.gradientMode(node),
      walkedFrom: (value) => this.graphCalls(value),
      assigned,
    });
    return (this.lazy.kept = [...inLoops, ...inHooks].sort((a, b) => a.value.start - b.value.start));
  }

  keptArguments(method: FunctionDefinition): readonly ParameterUse[] {
    let kept = this.keepers.get(method);
    if (kept === undefined) {
      const { resolver, flow, values: carried, stores } = this;
      this.keepers.set(method, []);
      kept = keptArguments(method, { resolver, flow, carried, stores });
      this.keepers.set(method, kept);
    }
    return kept;
  }

  get evaluationPasses(): readonly EvaluationPass[] {
    return (this.lazy.passes ??= evaluationPasses(this.resolver, this));
  }

  private get values(): CarriedValues {
    if (this.lazy.carried) return this.lazy.carried;
    const { resolver, flow, modes, parameters, backwards, byKey } = this;
    const storedIn = (key: string): readonly Store[] => (byKey.get(key) ?? []).filter(holdsElements);
    return (this.lazy.carried = createCarriedValues({
      resolver,
      flow,
      modes,
      parameters,
      backwards,
      storedIn,
    }));
  }

  private get byKey(): ReadonlyMap<string, readonly Store[]> {
    if (this.lazy.byKey) return this.lazy.byKey;
    const byKey = new Map<string, Store[]>();
    for (const store of this.stores) push(byKey, store.holderKey, store);
    return (this.lazy.byKey = byKey);
  }
}

/** Running sums of a plain variable are definitions already; what is stored under a key is not. */
function holdsElements(store: Store): boolean {
  return store.kind === "append" || store.kind === "subscript" || store.keys.length > 0;
}
