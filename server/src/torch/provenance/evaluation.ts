/**
 * Evaluation passes: stretches of code that run a model's forward to look at the result and never call backward. Told by
 * `model.eval()` before them, by the name of their function, or by the data they loop over.
 */
import { lastName } from "../../python/last-name";
import type {
  Call,
  ClassDefinition,
  Expression,
  For,
  FunctionDefinition,
  Lambda,
  Node,
  Statement,
} from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingLoop,
  someNode,
  statementList,
  isWithin,
} from "../../python/walk";
import type { Certainty, ResolvedObject, Resolver } from "../resolve";
import { callsInBody, enclosingClass, lastPart } from "../resolve-index";
import type { Provenance } from "../provenance";
import { evaluatingCalls } from "./both-modes";
import { evaluatingPhases } from "./phases";
import { atEntry } from "./flow";
import { ModesBefore, type Body, type Place } from "./eval-before";
import { switchesToTraining, trainingFlag } from "./mode-switches";
import { switchesOffInside } from "./inference-inside";
import { takesDifferentiated } from "./input-gradients";
import { loopOverData } from "./rounds";
import { isReadAsArray } from "./read-as-array";
import { argumentsOf, forwardReceiver } from "./shapes";
import { isTestFile, isTryOut } from "./try-out";

export interface EvaluationPass {
  /** The first forward that records a graph, and all others of the pass. */
  readonly forwards: readonly Call[];
  readonly model: ResolvedObject;
  /** The model as the first forward names it. */
  readonly modelName: Expression;
  readonly certainty: Certainty;
  /** Neighbouring statements of one block that hold all forwards. */
  readonly statements: readonly Statement[];
  readonly owner: FunctionDefinition | undefined;
  /** `model.eval()`, when that is what tells. */
  readonly evalCall: Call | undefined;
  /** The evaluating calls of the function that holds the forwards, where the forwards alone do not tell. */
  readonly reachedBy?: readonly Call[];
  /** The model's call in the function that the forward of the pass, a call of it, runs. */
  readonly inner?: Call;
  /** The condition under which the same forward trains: `statements` are then those from it to the backward. */
  readonly trainsWhere?: Expression;
}

/** Forwards of one block that may be one pass. */
interface Group {
  readonly block: readonly Statement[];
  first: number;
  last: number;
  readonly calls: Call[];
  readonly models: ModelRun[];
  readonly evalCall: Call | undefined;
  readonly reachedBy: Call[];
}

/** A call that runs a model, straight or in a helper of this file. */
interface ModelRun {
  readonly object: ResolvedObject;
  /** The model, named as in the function that calls. */
  readonly name: Expression;
  /** The helper's forwards where it gives numbers: no caller gets their graph. */
  readonly within?: ForwardsWithin;
}

interface ForwardsWithin {
  readonly helper: FunctionDefinition;
  readonly calls: readonly Call[];
  readonly runs: readonly ModelRun[];
}

interface Evidence {
  readonly place: Place;
  readonly evalCall: Call | undefined;
  /** How many independent signs there are. */
  readonly strength: number;
}

/** All evaluation passes of a file that run with gradients on. */
export function evaluationPasses(resolver: Resolver, provenance: Provenance): EvaluationPass[] {
  if (isTestFile(resolver.scopes)) return [];
  return [
    ...new PassFinder(resolver, provenance).find(),
    ...evaluatingCalls(resolver, provenance),
    ...evaluatingPhases(resolver, provenance),
  ];
}

const evaluationName =
  /(^|_)(eval|evaluate|evaluation|validate|validation|valid|val|test|testing|predict|predictions?|infer|inference|translate|generate|sample)(_|\d|$)/;
const evaluationData =
  /(^|_)(val|valid|validation|test|testing|eval|evaluation|dev|holdout)(_|\d|$)|^(val|valid|test|eval|dev)[A-Z]|(Val|Valid|Test|Eval)[A-Z]\w*$|^(val|valid|test|eval|dev)_?(data)?(loaders?|sets?|batches|iter|dl)$/;
const trainingName =
  /(^|_)(train|training|fit|finetune|fine_tune|pretrain|learn|update|optimi[sz]e|step|loss|backward|forward)(_|$)|train_/;
class PassFinder {
  private readonly modes: ModesBefore;
  private knownBodies: ReadonlySet<Node> | undefined;
  private knownBackwarded: ReadonlySet<Node> | undefined;
  private readonly helpers = new Map<FunctionDefinition, boolean>();
  private readonly loopsOverData = new Map<For, boolean>();

  constructor(
    private readonly resolver: Resolver,
    private readonly provenance: Provenance,
  ) {
    this.modes = new ModesBefore(resolver);
  }

  find(): EvaluationPass[] {
    const byBlock = new Map<readonly Statement[], Group[]>();
    for (const call of this.resolver.index.calls) {
      if (!this.couldEvaluate(call)) continue;
      const model = this.modelOf(call);
      const evidence = model && this.evidenceFor(call, model);
      if (model === undefined || evidence === undefined) continue;
      if (isTryOut(call, this.resolver, this.provenance)) continue;
      for (const group of this.groupsOf(call, model, evidence)) {
        const groups = byBlock.get(group.block) ?? [];
        byBlock.set(group.block, groups);
        groups.push(group);
      }
    }
    return [...byBlock.values()].flatMap((groups) =>
      this.merged(groups).flatMap((group) => this.judge(group)),
    );
  }

  /** The forward where it stands: at the call, or in the helper that keeps it to itself. */
  private groupsOf(call: Call, model: ModelRun, { place, evalCall }: Evidence): Group[] {
    const { block, index } = place;
    const group = {
      block,
      first: index,
      last: index,
      calls: [call],
      models: [model],
      evalCall,
      reachedBy: [],
    };
    if (model.within === undefined) return [group];
    if (this.isNeeded(group)) return [];
    const { helper, calls, runs } = model.within;
    return calls.flatMap((forward, at) => {
      const inside = placeIn(helper.body, forward);
      const run = runs[at];
      if (inside === undefined || run === undefined) return [];
      const { block, index } = inside;
      return [
        { block, first: index, last: index, calls: [forward], models: [run], evalCall, reachedBy: [call] },
      ];
    });
  }

  /**
   * Whether there is any sign of evaluation, and enough of it: asked of every call, before anything is resolved. Where this
   * says no, `evidenceFor` finds none, whatever the model.
   */
  private couldEvaluate(call: Call): boolean {
    const owner = enclosingFunction(call);
    if (owner?.kind === "Lambda") return false;
    const body: Body = owner ?? this.resolver.module;
    const hasEval = this.bodiesWithEval.has(body);
    const named = owner !== undefined && this.isEvaluationFunction(owner);
    if (hasEval) return owner === undefined || !this.isExempt(owner);
    const loops = this.evaluationLoop(call, body) !== undefined;
    if (owner === undefined || (!loops && !named)) return loops;
    if (this.isExempt(owner)) return false;
    if (loops && named) return true;
    return (loops || runsOnGivenData(owner, call)) && !this.isCalledByOthers(owner);
  }

  /** Where `eval()` or a function of this file that calls it is called. */
  private get bodiesWithEval(): ReadonlySet<Node> {
    if (this.knownBodies) return this.knownBodies;
    const { callsByName } = this.resolver.index;
    const bodies = new Set<Node>();
    const off = (callsByName.get("train") ?? []).filter((call) => trainingFlag(call) === false);
    for (const call of [...(callsByName.get("eval") ?? []), ...off]) {
      const owner = enclosingFunction(call);
      bodies.add(owner ?? this.resolver.module);
      if (owner?.kind !== "FunctionDefinition") continue;
      for (const user of callsByName.get(owner.name.id) ?? []) {
        bodies.add(enclosingFunction(user) ?? this.resolver.module);
      }
    }
    return (this.knownBodies = bodies);
  }

  /** Neighbours become one pass unless training or a definition lies between them. */
  private merged(groups: Group[]): Group[] {
    const merged: Group[] = [];
    for (const group of groups.sort((a, b) => a.first - b.first)) {
      const before = merged.at(-1);
      const isApart =
        before !== undefined &&
        group.first > before.last &&
        (isDefinedBetween(before, group) ||
          this.trainsBetween(before, group) ||
          this.differentiatesInOne(before, group));
      if (before && !isApart) {
        before.last = Math.max(before.last, group.last);
        before.calls.push(...group.calls);
        before.models.push(...group.models);
        before.reachedBy.push(...group.reachedBy);
      } else merged.push(group);
    }
    return merged;
  }

  private trainsBetween(before: Group, after: Group): boolean {
    const between = statementsBetween(before, after);
    if (before.evalCall === undefined && after.evalCall !== undefined && between.length > 0) return true;
    return (
      this.provenance.gradientUse.in(between) || between.some((statement) => switchesToTraining(statement))
    );
  }

  /**
   * Loops one after the other, of which one wants gradients (saliency maps after the accuracy) and takes nothing from the
   * other: that one is a pass all the same.
   */
  private differentiatesInOne(before: Group, after: Group): boolean {
    const earlier = before.block.slice(before.first, before.last + 1);
    const later = after.block.slice(after.first, after.last + 1);
    if (!earlier.every(isLoop) || !later.every(isLoop)) return false;
    const { gradientUse } = this.provenance;
    if (gradientUse.in(earlier) === gradientUse.in(later)) return false;
    return !this.provenance.stores.some(
      ({ statement, holderKey }) =>
        earlier.some((loop) => isWithin(statement, loop)) &&
        this.provenance.flow.readsOf(holderKey).some((read) => later.some((loop) => isWithin(read, loop))),
    );
  }

  private judge(group: Group): EvaluationPass[] {
    const forwards = [...new Set(group.calls)].sort((a, b) => a.start - b.start);
    const [first] = forwards;
    const run = group.models.find(({ object }) => object.certainty === "resolved") ?? group.models[0];
    if (first === undefined || run === undefined || this.isNeeded(group)) return [];
    if (forwards.some((forward) => isReadAsArray(forward, this.resolver, this.provenance.flow))) return [];
    const owner = enclosingFunction(first);
    const pass: EvaluationPass = {
      forwards,
      model: run.object,
      modelName: run.name,
      certainty: run.object.certainty,
      statements: statementsOf(group),
      owner: owner?.kind === "FunctionDefinition" ? owner : undefined,
      evalCall: group.evalCall,
      ...(group.reachedBy.length > 0 ? { reachedBy: group.reachedBy } : {}),
    };
    return [pass];
  }

  /** Gradients are taken through what the group runs. */
  private isNeeded(group: Group): boolean {
    return (
      this.provenance.gradientUse.in(statementsOf(group)) ||
      this.isBackwarded(group.calls) ||
      this.isPartOfStep(group) ||
      this.isHandedToGradients(group)
    );
  }

  /** `u = net(x, t); u_t = self.gradients(u, t)`: a helper, here or elsewhere, takes derivatives of what the group gives. */
  private isHandedToGradients({ block, first, last }: Group): boolean {
    const given = new Set(block.slice(first, last + 1).flatMap(boundBy));
    if (given.size === 0) return false;
    return block
      .slice(last + 1)
      .some((statement) =>
        someNode(
          statement,
          (node) =>
            node.kind === "Call" &&
            node.positional.some((argument) => argument.kind === "Name" && given.has(argument.id)) &&
            this.differentiates(node),
        ),
      );
  }

  private differentiates(call: Call): boolean {
    const target = this.resolver.functionOf(call);
    if (target !== undefined) return this.provenance.gradientUse.differentiatesIn(target);
    const elsewhere = this.resolver.imported.functionOf(call);
    return elsewhere?.file.torch.provenance.gradientUse.differentiatesIn(elsewhere.definition) ?? false;
  }

  /**
   * `encoder.eval(); code = encoder(x); loss = critic(code.detach()); loss.backward()` in one round of a loop or in a function
   * of its own: a step that trains another model on what this one gives.
   */
  private isPartOfStep({ block, last }: Group): boolean {
    const round = block[0]?.parent;
    const isRound = round?.kind === "For" || round?.kind === "While";
    if (!isRound && round?.kind !== "FunctionDefinition") return false;
    const after = block.slice(last + 1);
    const until = after.findIndex((statement) => switchesToTraining(statement));
    return (until < 0 ? after : after.slice(0, until)).some(
      (statement) =>
        (isRound || !isLoop(statement)) &&
        this.provenance.backwards.some(({ call }) => isWithin(call, statement)),
    );
  }

  /** The trainable model a call runs with gradients on. */
  private modelOf(call: Call): ModelRun | undefined {
    // Known without resolving anything: a pass that is written as it should be costs nothing more.
    if ((this.provenance.modes.lexicallyAt(call) ?? "on") !== "on") return undefined;
    const direct = this.directModelOf(call);
    const run = direct ?? this.modelBehind(call);
    if (run === undefined) return undefined;
    // A try-out or a warm-up whose result is dropped at once keeps nothing.
    if (isThrownAway(call) && loopOverData(call, this.resolver, this.provenance.flow) === undefined)
      return undefined;
    if (direct !== undefined && this.provenance.carriedHere(call).graph === "no") return undefined;
    if (takesDifferentiated(call, this.resolver, this.provenance.flow)) return undefined;
    return this.provenance.gradientMode(call) === "on" ? run : undefined;
  }

  private directModelOf(call: Call): ModelRun | undefined {
    const name = forwardReceiver(call);
    const object = this.resolver.objectOf(name);
    if (object?.role !== "model" && object?.role !== "engine") return undefined;
    if (name === call.callee && argumentsOf(call).length === 0) return undefined;
    if (this.isLossGiven(call, name, object) || this.isNoModelAnyMore(name)) return undefined;
    // A look-up keeps its indices for backward, nothing else.
    if (object.className === "torch.nn.Embedding") return undefined;
    if (this.resolver.isFrozen(name) || this.isWithoutParameters(object)) return undefined;
    if (switchesOffInside(object, this.resolver, this.provenance.modes)) return undefined;
    if (this.comesWithoutGradients(name)) return undefined;
    return { object, name };
  }

  /** `criterion: nn.Module` of a parameter: it has a graph where what it is given has one. Some are given the model itself. */
  private isLossGiven(call: Call, name: Expression, { certainty, className }: ResolvedObject): boolean {
    if (certainty !== "annotation" || className !== "torch.nn.Module") return false;
    if (!/loss|criteri/i.test(lastName(name) ?? "")) return false;
    return !argumentsOf(call).some((given) => this.resolver.roleOf(given) === "model");
  }

  /** `net = net.load_state_dict(…)` leaves the keys that did not fit, and the script stops at the call. */
  private isNoModelAnyMore(name: Expression): boolean {
    return (this.provenance.flow.reaching(name) ?? []).some(
      (one) =>
        one !== atEntry &&
        one.value?.kind === "Call" &&
        one.value.callee.kind === "Attribute" &&
        one.value.callee.attribute.id === "load_state_dict",
    );
  }

  /** The file that the model is imported from turns gradients off for the whole process. */
  private comesWithoutGradients(model: Expression): boolean {
    return this.resolver.imported
      .variablesNamed(model)
      .some(({ file }) => file.torch.provenance.modes.whenImported === "off");
  }

  /** `outputs = self.process(batch)` where the helper runs the model; one that is an evaluation itself is told there. */
  private modelBehind(call: Call): ModelRun | undefined {
    const target = this.resolver.functionOf(call);
    if (target === undefined || target.name.id === "forward") return undefined;
    // Without a model that it calls by itself nothing that it gives back has to be followed.
    if (!this.runsModel(target)) return undefined;
    const carried = this.provenance.carriedHere(call);
    const givesNumbers = carried.graph !== "yes";
    const calls: Call[] = [];
    const runs: ModelRun[] = [];
    let name: Expression | undefined;
    for (const source of givesNumbers ? this.forwardsWithin(target) : carried.sources) {
      if (source.kind !== "Call" || enclosingFunction(source) !== target) continue;
      if (this.isToldWithin(target, source)) continue;
      const run = this.directModelOf(source);
      if (run === undefined || this.provenance.modes.lexicallyAt(source) !== undefined) continue;
      const seen = this.asSeenBy(call, target, run.name);
      if (seen === undefined) continue;
      if (!givesNumbers) return { object: run.object, name: seen };
      name ??= seen;
      calls.push(source);
      runs.push(run);
    }
    const [first] = runs;
    return first && name && { object: first.object, name, within: { helper: target, calls, runs } };
  }

  /** Whether a call in the function's own body runs a model with gradients on, as far as the text tells. */
  private runsModel(target: FunctionDefinition): boolean {
    let runs = this.helpers.get(target);
    if (runs === undefined) {
      runs = callsInBody(this.resolver.index, target).some(
        (call) =>
          enclosingFunction(call) === target &&
          this.provenance.modes.lexicallyAt(call) === undefined &&
          this.directModelOf(call) !== undefined,
      );
      this.helpers.set(target, runs);
    }
    return runs;
  }

  /** The forwards of a helper that gives numbers: `return model(image).argmax().item()`. */
  private *forwardsWithin(target: FunctionDefinition): Generator<Call> {
    if (this.isEvaluationFunction(target) || this.isExempt(target)) return;
    for (const call of callsInBody(this.resolver.index, target)) {
      if (this.directModelOf(call)?.object.certainty !== "resolved") continue;
      if (this.provenance.carriedHere(call).graph === "yes" && !this.isToldAlone(call)) yield call;
    }
  }

  /** The forward alone is told as an evaluation, whoever calls the helper. */
  private isToldAlone(forward: Call): boolean {
    const run = this.couldEvaluate(forward) ? this.directModelOf(forward) : undefined;
    return run !== undefined && this.evidenceFor(forward, run) !== undefined;
  }

  /** The helper is an evaluation of its own, which does not hand out what the forward gave. */
  private isToldWithin(target: FunctionDefinition, forward: Call): boolean {
    if (this.bodiesWithEval.has(target)) return true;
    if (!this.isEvaluationFunction(target)) return false;
    return !this.givesGraphAway(target, this.evaluationLoop(forward, target) !== undefined);
  }

  /** A parameter of the helper is what the caller gave. */
  private asSeenBy(call: Call, target: FunctionDefinition, name: Expression): Expression | undefined {
    const isParameter =
      name.kind === "Name" && target.parameters.some((parameter) => parameter.name.id === name.id);
    return isParameter ? this.resolver.argumentFor(call, target, name.id) : name;
  }

  private isWithoutParameters({ classDefinition, importedClass }: ResolvedObject): boolean {
    if (classDefinition) return this.provenance.parameters.surelyNone(classDefinition);
    if (importedClass === undefined) return false;
    return importedClass.file.torch.provenance.parameters.surelyNone(importedClass.definition);
  }

  private evidenceFor(call: Call, { object: model, name }: ModelRun): Evidence | undefined {
    const owner = enclosingFunction(call);
    if (owner?.kind === "Lambda") return undefined;
    if (owner && (this.isExempt(owner) || this.isMethodForOthers(owner))) return undefined;
    const body: Body = owner ?? this.resolver.module;
    const byEval = this.modes.before(call, name, body);
    if (byEval === "training") return undefined;
    const loop = this.evaluationLoop(call, body);
    const named = owner !== undefined && this.isEvaluationFunction(owner);
    const strength = (byEval ? 2 : 0) + (loop ? 1 : 0) + (named ? 1 : 0);
    if (strength === 0 || (isLookedAt(model) && loop === undefined)) return undefined;
    // Parts of a model, and models we know by name only, need a second sign: others decide how they are called.
    const uncertain = model.certainty !== "resolved" || (owner !== undefined && this.isCalledByOthers(owner));
    if (
      strength === 1 &&
      (uncertain ||
        (isSingleLayer(model) && enclosingLoop(call) === undefined) ||
        (named && (!runsOnGivenData(owner, call) || isMadeIn(owner, model))))
    )
      return undefined;
    const passing = byEval ? enclosingLoop(call) === undefined : true;
    if (passing && this.givesGraphAway(owner, loop !== undefined)) return undefined;
    if (byEval) return { place: byEval.place, evalCall: byEval.call, strength };
    const place = named ? placeIn(body.body, call) : loop && placeOf(loop);
    return place && { place, evalCall: undefined, strength };
  }

  /** `forward`, hooks of frameworks that switch gradients off themselves, tests. */
  private isExempt(owner: FunctionDefinition): boolean {
    const name = owner.name.id;
    if (name === "forward" || name === "__call__" || name === "__init__") return true;
    const holder = enclosingClass(owner);
    const bases = holder ? holder.bases.map((base) => lastPart(base)) : [];
    if (
      bases.some((base) =>
        /Trainer$|TestCase$|LightningModule$|Callback$|DataModule$|Pipeline$/.test(base ?? ""),
      )
    )
      return true;
    if (
      owner.decorators.some(({ expression }) =>
        /fixture|parametrize|mark|property|jit|script|compile/.test(lastPart(expression) ?? ""),
      )
    )
      return true;
    return [owner, ...ancestors(owner)].some(
      (at) => at.kind === "FunctionDefinition" && /^test/.test(at.name.id) && this.looksLikeTest(at),
    );
  }

  private looksLikeTest(owner: FunctionDefinition): boolean {
    const asserts = someNode(
      owner,
      (node) =>
        node.kind === "Assert" || (node.kind === "Attribute" && node.attribute.id.startsWith("assert")),
    );
    if (asserts) return true;
    const isUnused = owner.name.id.startsWith("test_") && this.resolver.callsTo(owner).length === 0;
    return isUnused && !loopsOverParameter(owner);
  }

  /** A method of a model, or of a class whose base outside this file may call it with gradients off. */
  private isCalledByOthers(owner: FunctionDefinition): boolean {
    const holder = enclosingClass(owner);
    if (holder === undefined) return false;
    // Whatever the base turns out to be: no other file has to be read for it.
    if (this.derivesFromNamed(holder) && !this.isNamedOutside(owner, holder)) return true;
    if (this.resolver.isModuleClass(holder)) return !this.isRunHere(owner, holder);
    return this.resolver.basesOf(holder).some((base) => base !== "builtins.object");
  }

  private derivesFromNamed({ bases }: ClassDefinition): boolean {
    return bases.some((base) => {
      const name = this.resolver.qualifiedName(base);
      return name !== undefined && name !== "builtins.object";
    });
  }

  private isNamedOutside(owner: FunctionDefinition, holder: ClassDefinition): boolean {
    const calls = this.resolver.index.callsByName.get(owner.name.id) ?? [];
    return calls.some((call) => !isWithin(call, holder));
  }

  /** `generate` of a model that nothing in this file calls: in which mode others do is theirs to know. */
  private isMethodForOthers(owner: FunctionDefinition): boolean {
    const holder = enclosingClass(owner);
    return (
      holder !== undefined && this.resolver.callsTo(owner).length === 0 && this.resolver.isModuleClass(holder)
    );
  }

  /** `model.generate(prompt)` in this file, with gradients on, of a method that gives back numbers or indices only. */
  private isRunHere(owner: FunctionDefinition, holder: ClassDefinition): boolean {
    const returned = this.resolver.returnedValues(owner);
    if (returned.length === 0 || returned.some((value) => this.provenance.carriedHere(value).graph !== "no"))
      return false;
    const calls = this.resolver.sureCallsTo(owner).filter((call) => !isWithin(call, holder));
    return calls.length > 0 && calls.every((call) => this.provenance.gradientMode(call) === "on");
  }

  private isEvaluationFunction(owner: FunctionDefinition): boolean {
    const name = owner.name.id;
    return evaluationName.test(name) && !trainingName.test(name);
  }

  // --- Loops over evaluation data ---------------------------------------------------------------------------------

  private evaluationLoop(call: Call, body: Body): For | undefined {
    let found: For | undefined;
    let below: Node = call;
    for (let at = call.parent; at !== undefined && at !== body; at = at.parent) {
      if (at.kind === "For" && this.goesOverEvaluationData(at) && at.body.includes(below as Statement))
        found = at;
      below = at;
    }
    return found;
  }

  private goesOverEvaluationData(loop: For): boolean {
    let goes = this.loopsOverData.get(loop);
    if (goes === undefined) this.loopsOverData.set(loop, (goes = isEvaluationData(loop.iterable)));
    return goes;
  }

  // --- What speaks against it -------------------------------------------------------------------------------------

  /** A backward elsewhere in the file walks the graph of one of the forwards. */
  private isBackwarded(forwards: readonly Call[]): boolean {
    const { backwarded } = this;
    return forwards.some((forward) => backwarded.has(forward));
  }

  private get backwarded(): ReadonlySet<Node> {
    return (this.knownBackwarded ??= new Set(
      this.provenance.backwards.flatMap(({ values }) =>
        values.flatMap((value) => [...this.provenance.graphCalls(value)]),
      ),
    ));
  }

  /** The function hands the result out with its graph; who gets it may want that graph. */
  private givesGraphAway(owner: FunctionDefinition | Lambda | undefined, inLoop: boolean): boolean {
    if (owner?.kind !== "FunctionDefinition") return false;
    const returned = this.resolver.index.returns.get(owner) ?? [];
    const out = returned.some(
      ({ value }) => value !== undefined && this.provenance.carriedHere(value).graph !== "no",
    );
    if (!out) return false;
    const calls = this.resolver.callsTo(owner);
    return calls.length === 0 || (!inLoop && this.provenance.needed.possibly.has(owner));
  }
}

/** `def test_epoch(model, loader): for batch in loader: …` is there for other files to call. */
function loopsOverParameter(owner: FunctionDefinition): boolean {
  const given = new Set(owner.parameters.map(({ name }) => name.id));
  given.delete("self");
  return someNode(
    owner,
    (node) =>
      node.kind === "For" && someNode(node.iterable, (part) => part.kind === "Name" && given.has(part.id)),
  );
}

/** A function that loops over something or is given something; `def test(): net(torch.randn(1, 3, 32, 32))` is a try-out. */
function runsOnGivenData(owner: FunctionDefinition | undefined, call: Call): boolean {
  return (
    enclosingLoop(call) !== undefined || (owner?.parameters.some(({ name }) => name.id !== "self") ?? false)
  );
}

/** An embedding or a convolution alone is a step of a computation, not a model that is evaluated. */
function isSingleLayer({ className }: ResolvedObject): boolean {
  return (
    className !== undefined &&
    className.startsWith("torch.nn.") &&
    !/\.(Module|Sequential|ModuleList|ModuleDict|DataParallel|DistributedDataParallel|Transformer)$/.test(
      className,
    )
  );
}

/** A normalisation or a dropout by itself: somebody looks at what it does in which mode. */
function isLookedAt({ className }: ResolvedObject): boolean {
  return className !== undefined && /^torch\.nn\.(Lazy)?(\w+Norm\w*|\w*Dropout\w*)$/.test(className);
}

/** `def test(): net = Net(); for …: print(net(…).size())`: makes the model itself and is given nothing. */
function isMadeIn(owner: FunctionDefinition | undefined, { construction }: ResolvedObject): boolean {
  if (owner === undefined || construction === undefined || owner.parameters.length > 0) return false;
  return isWithin(construction, owner);
}

function isEvaluationData(iterable: Expression): boolean {
  const named =
    (pattern: RegExp) =>
    (node: Node): boolean => {
      if (node.kind === "String") return node.value !== undefined && pattern.test(node.value);
      const name = node.kind === "Name" || node.kind === "Attribute" ? lastName(node) : undefined;
      return name !== undefined && pattern.test(name);
    };
  return someNode(iterable, named(evaluationData)) && !someNode(iterable, named(/train/i));
}

/** `model(x)` as a statement, `_ = model(x)`. */
function isThrownAway({ parent }: Call): boolean {
  if (parent?.kind === "ExpressionStatement") return true;
  return parent?.kind === "Assign" && parent.targets.every((one) => one.kind === "Name" && one.id === "_");
}

function isLoop({ kind }: Statement): boolean {
  return kind === "For" || kind === "While";
}

function statementsOf({ block, first, last }: Group): readonly Statement[] {
  return block.slice(first, last + 1);
}

function statementsBetween(before: Group, after: Group): readonly Statement[] {
  return before.block.slice(before.last + 1, after.first);
}

/** `u` of `u = net(x)`, both of `u, v = net(x)`. */
function boundBy(statement: Statement): string[] {
  if (statement.kind !== "Assign") return [];
  return statement.targets
    .flatMap((target) => (target.kind === "Tuple" ? target.elements : [target]))
    .flatMap((target) => (target.kind === "Name" ? [target.id] : []));
}

/** Functions and classes of a script's top level end a pass: nobody wants them inside of its `with`. */
function isDefinedBetween(before: Group, after: Group): boolean {
  return statementsBetween(before, after).some(
    ({ kind }) => kind === "FunctionDefinition" || kind === "ClassDefinition",
  );
}

function placeIn(block: readonly Statement[], node: Node): Place | undefined {
  const index = block.findIndex((statement) => isWithin(node, statement));
  return index < 0 ? undefined : { block, index };
}

function placeOf(statement: Statement): Place | undefined {
  const place = statementList(statement);
  return place && { block: place.list, index: place.index };
}
