/**
 * The one entrance: a parsed file and options in; findings, estimates and directives out. Pure; never throws on bad
 * source.
 */
import { inputsOfLoop, inputsOfTrainer, iterationOfScript, setupOfScript } from "./analysis/script-setup";
import { budgetFindings, budgetVerdict } from "./directives/budget";
import { directiveGroupTitles, directiveRules } from "./directives/catalogue";
import { readHeader } from "./directives/header";
import type { BudgetHeader } from "./directives/header";
import type { BudgetFacts } from "./directives/budget";
import { applySuppressions } from "./directives/suppressions";
import { estimateModule } from "./memory/estimate";
import type { BudgetVerdict, Estimates, ModelEstimate } from "./memory/estimate";
import type { ReadBeside, ResolveImport } from "./python/resolve-import";
import type { World } from "./memory/evaluate/world";
import type { TrainingSetup } from "./memory/setup";
import type { MessageText } from "./messages/message";
import type { ParsedModule } from "./python/parse";
import type { Span } from "./python/tree";
import { buildScopes } from "./python/scope";
import type { Scopes } from "./python/scope";
import { groupTitles } from "./rules/groups";
import { rules } from "./rules/registry";
import type { Finding, Level } from "./rules/rule";
import { runRules } from "./rules/run";
import type { RuleFailure, SharedContext } from "./rules/run";
import { selectRules } from "./rules/select";
import type { LevelOverrides } from "./rules/select";
import { isKnownExport } from "./torch/api-exports";
import { torchFacts } from "./torch/facts";
import type { TorchFacts } from "./torch/facts";
import { usesOtherFramework } from "./torch/other-frameworks";
import type { ScriptData } from "./torch/script-setup/data";

export interface AnalysisOptions {
  /** Rules to run: names, group names or `all`; all of the catalogue when absent. */
  readonly select?: readonly string[];
  readonly ignore?: readonly string[];
  /** Overrides of the rules' own levels; `off` silences. */
  readonly levels?: LevelOverrides;
  /** Values that replace the header's, e.g. from the command line. */
  readonly setup?: TrainingSetup;
  /** Finds the files behind imports. */
  readonly resolveImport?: ResolveImport | undefined;
  /** Reads configuration files that the script names, relative to its folder. */
  readonly readBeside?: ReadBeside | undefined;
  /** The text is that of a notebook's cells: its lines are none that a person counts. */
  readonly isInCells?: boolean | undefined;
  /** Device and budget for files whose header names none, e.g. from the project's settings. */
  readonly defaults?: TrainingSetup;
}

export interface Analysis {
  /** Sorted by offset, then rule. Suppressed findings are left out; unused suppressions are findings themselves. */
  readonly findings: readonly Finding[];
  /** Rules that broke on this file: a defect of ours, to be logged. */
  readonly failures: readonly RuleFailure[];
  readonly header: BudgetHeader;
  /** Options over header over script over defaults; what none of them says is absent. */
  readonly setup: TrainingSetup;
  /** What the script alone says, whatever the header says of the same. */
  readonly script: TrainingSetup;
  /** Evaluated on first use. */
  readonly estimates: Estimates;
  /** The verdict on the trained model; `undefined` without a budget, a device or a model. */
  readonly verdict: BudgetVerdict | undefined;
  /** The loops that train, in source order: where the innermost that runs backward and step stands. Found on first use. */
  readonly trainingLoops: readonly Span[];
  /** What the script says of its data; found on first use. */
  readonly data: ScriptData;
  /** The one of the options: whoever simulates further must see the same files. */
  readonly resolveImport: ResolveImport | undefined;
}

/** A rule as lists, settings and selectors show it; those of the `# vram:` comments have no folder. */
export interface CatalogueEntry {
  readonly name: string;
  readonly group: string;
  readonly level: Level;
  readonly summary: MessageText;
}

/** Every rule that a finding can come from, sorted by name. */
export const catalogue: readonly CatalogueEntry[] = [...rules, ...directiveRules].sort((a, b) =>
  a.name < b.name ? -1 : 1,
);

/** Titles of the catalogue's groups, in the order in which lists show them. */
export const catalogueGroups: Readonly<Record<string, MessageText>> = {
  ...groupTitles,
  ...directiveGroupTitles,
};

const ruleNames: readonly string[] = catalogue.map(({ name }) => name);

const relevant =
  /torch|lightning|accelerate|transformers|deepspeed|fastai|\.(?:backward|zero_grad|cuda|state_dict)\(|\.eval\(\)|no_grad|#\s*vram\b/i;

/**
 * False for a text in which nothing can be found: no library that trains is named in it, no method called that only models,
 * losses and optimizers have (all of PyTorch may come by `from common import *`), nor is there a comment of ours. Cheap, so
 * that such files need no parse.
 */
export function couldMatter(text: string): boolean {
  return relevant.test(text);
}

export function analyze(parsed: ParsedModule, options: AnalysisOptions = {}): Analysis {
  const file = new FileFacts(parsed, options);
  const ran = new Set(selectRules(catalogue, options).map(({ name }) => name));
  const { findings, failures } = runRules(
    usesOtherFramework(file.scopes) ? [] : rules.filter(({ name }) => ran.has(name)),
    file,
  );
  const budget = budgetFindings(withDefaults(file.header, options.defaults), file);
  const visible = applySuppressions(parsed, [...findings, ...budget], {
    all: ruleNames,
    ran: (rule) => ran.has(rule) && !failures.some((failure) => failure.rule === rule),
  });
  const reported = visible
    .filter(({ rule }) => ran.has(rule))
    .map((finding) => withLevel(finding, options.levels))
    .sort(byPlace);
  return new FileAnalysis(file, reported, failures, options.resolveImport);
}

/** A class, like all that has getters and is made for every file: V8 keeps objects with getters of their own far too long. */
class FileAnalysis implements Analysis {
  readonly header: BudgetHeader;

  constructor(
    private readonly file: FileFacts,
    readonly findings: readonly Finding[],
    readonly failures: readonly RuleFailure[],
    readonly resolveImport: ResolveImport | undefined,
  ) {
    this.header = file.header;
  }

  get setup(): TrainingSetup {
    return this.file.setup;
  }

  get script(): TrainingSetup {
    return this.file.script;
  }

  get estimates(): Estimates {
    return this.file.estimates;
  }

  get verdict(): BudgetVerdict | undefined {
    return this.file.verdict;
  }

  get trainingLoops(): readonly Span[] {
    return spansOf(this.file.torch.trainingLoops.loops.map(({ loop }) => loop));
  }

  get data(): ScriptData {
    return this.file.torch.scriptSetup.data;
  }
}

/** Each once, in source order. */
function spansOf(nodes: readonly Span[]): Span[] {
  return [...new Set(nodes)].sort((a, b) => a.start - b.start).map(({ start, end }) => ({ start, end }));
}

/** A header that names no device or budget stands for the project's: findings about them go to its first comment. */
function withDefaults(header: BudgetHeader, defaults: TrainingSetup | undefined): BudgetHeader {
  const [first] = header.comments;
  if (defaults === undefined || first === undefined) return header;
  const span = { start: first.start, end: first.end };
  const { device, budget } = defaults;
  return {
    ...header,
    setup: {
      ...(device === undefined ? {} : { device: { ...device, span } }),
      ...(budget === undefined ? {} : { budget: { ...budget, span } }),
      ...header.setup,
    },
  };
}

function byPlace(a: Finding, b: Finding): number {
  return a.span.start - b.span.start || a.span.end - b.span.end || (a.rule < b.rule ? -1 : 1);
}

const levels: readonly Level[] = ["error", "warning", "information", "hint"];

/** The level that the user wants; a finding that its rule reports below its own level keeps that distance. */
function withLevel(finding: Finding, overrides: LevelOverrides | undefined): Finding {
  const override = overrides?.[finding.rule];
  if (override === undefined || override === "off") return finding;
  const own = catalogue.find(({ name }) => name === finding.rule)?.level ?? finding.level;
  const distance = Math.max(0, levels.indexOf(finding.level) - levels.indexOf(own));
  const level = levels[Math.min(levels.indexOf(override) + distance, levels.length - 1)] ?? override;
  return { ...finding, level };
}

/** What rules, budget and estimates share; everything computed on first use, once. */
class FileFacts implements SharedContext, BudgetFacts {
  readonly source;
  readonly module;
  readonly header: BudgetHeader;
  private knownScopes: Scopes | undefined;
  private knownTorch: TorchFacts | undefined;
  private knownScript: TrainingSetup | undefined;
  private knownSetup: TrainingSetup | undefined;
  private knownEstimates: Estimates | undefined;

  constructor(
    parsed: ParsedModule,
    private readonly options: AnalysisOptions,
  ) {
    this.source = parsed.source;
    this.module = parsed.module;
    this.header = readHeader(parsed);
  }

  get isInCells(): boolean {
    return this.options.isInCells === true;
  }

  get scopes(): Scopes {
    return (this.knownScopes ??= buildScopes(this.module, { isKnownExport }));
  }

  get torch(): TorchFacts {
    const { resolveImport, readBeside } = this.options;
    const { commandLine } = this;
    return (this.knownTorch ??= torchFacts(this.module, this.scopes, resolveImport, {
      readBeside,
      commandLine,
    }));
  }

  /** The words that the script is started with, where header or options say them. */
  private get commandLine(): readonly string[] | undefined {
    return (this.options.setup?.args ?? this.header.setup.args)?.value;
  }

  /** What the evaluation of the script's code is given. */
  private get world(): World {
    const { resolveImport, readBeside } = this.options;
    return { resolveImport, readBeside, commandLine: this.commandLine };
  }

  get script(): TrainingSetup {
    return (this.knownScript ??= setupOfScript(this.torch.scriptSetup, this.source));
  }

  get setup(): TrainingSetup {
    return (this.knownSetup ??= {
      ...this.options.defaults,
      ...this.ofScript,
      ...this.header.setup,
      ...this.options.setup,
    });
  }

  private get ofScript(): TrainingSetup {
    const setup = { ...this.script, ...this.inputs };
    const { header, options } = this;
    const given = { ...header.setup, ...options.setup };
    const { iteration, otherLoops } = this.torch.scriptSetup;
    return { ...setup, ...iterationOfScript(iteration, setup, given, otherLoops, this.source) };
  }

  /** What the training loop feeds the model; read only where nobody says it. */
  private get inputs(): TrainingSetup {
    if (this.header.setup.inputs !== undefined || this.options.setup?.inputs !== undefined) return {};
    const { forward, fit, batch } = this.torch.scriptSetup;
    return forward === undefined
      ? inputsOfTrainer(this.module, fit, batch, this.world)
      : inputsOfLoop(this.module, forward, batch, this.world);
  }

  get estimates(): Estimates {
    return (this.knownEstimates ??= estimateModule(this.module, this.scopes, this.setup, this.world));
  }

  /** The estimate of the model that is trained. */
  get estimate(): ModelEstimate | undefined {
    return this.estimates.first();
  }

  get verdict(): BudgetVerdict | undefined {
    const { budget, device } = this.setup;
    return budget === undefined && device === undefined
      ? undefined
      : budgetVerdict(this.setup, this.estimate);
  }
}
