/**
 * The one entrance: a parsed file and options in; findings, estimates and directives out. Pure; never throws on bad
 * source.
 */
import { estimateModule } from "./memory/estimate";
import type { Estimates } from "./memory/estimate";
import type { TrainingSetup } from "./memory/setup";
import type { ParsedModule } from "./python/parse";
import { buildScopes } from "./python/scope";
import type { Scopes } from "./python/scope";
import { rules } from "./rules/registry";
import type { Finding, Rule } from "./rules/rule";
import { runRules } from "./rules/run";
import type { RuleFailure } from "./rules/run";
import { selectRules } from "./rules/select";
import type { LevelOverrides } from "./rules/select";
import { torchFacts } from "./torch/facts";
import type { TorchFacts } from "./torch/facts";

export interface AnalysisOptions {
  /** Rules to run: names, group names or `all`; all of the registry when absent. */
  readonly select?: readonly string[];
  readonly ignore?: readonly string[];
  /** Overrides of the rules' own levels; `off` silences. */
  readonly levels?: LevelOverrides;
  /** Values that replace the header's, e.g. from the command line. */
  readonly setup?: TrainingSetup;
}

export interface Analysis {
  /** Sorted by offset, then rule. Suppressed findings are left out; unused suppressions are findings themselves. */
  readonly findings: readonly Finding[];
  /** Rules that broke on this file: a defect of ours, to be logged. */
  readonly failures: readonly RuleFailure[];
  /** Evaluated on first use. */
  readonly estimates: Estimates;
  /** Header over script over defaults. */
  readonly setup: TrainingSetup;
}

export function analyze(parsed: ParsedModule, options: AnalysisOptions = {}): Analysis {
  const file = new FileFacts(parsed, options);
  const selected = selectRules(rules, options);
  const { findings, failures } = runRules(selected, file, (rule) => levelOf(rule, options.levels));
  return {
    findings: findings.sort((a, b) => a.span.start - b.span.start || (a.rule < b.rule ? -1 : 1)),
    failures,
    setup: file.setup,
    get estimates() {
      return file.estimates;
    },
  };
}

/** What rules share; everything computed on first use, once. */
class FileFacts {
  readonly source;
  readonly module;
  private knownScopes: Scopes | undefined;
  private knownTorch: TorchFacts | undefined;
  private knownEstimates: Estimates | undefined;

  constructor(
    parsed: ParsedModule,
    private readonly options: AnalysisOptions,
  ) {
    this.source = parsed.source;
    this.module = parsed.module;
  }

  get scopes(): Scopes {
    return (this.knownScopes ??= buildScopes(this.module));
  }

  get torch(): TorchFacts {
    return (this.knownTorch ??= torchFacts(this.module, this.scopes));
  }

  get setup(): TrainingSetup {
    return this.options.setup ?? {};
  }

  get estimates(): Estimates {
    return (this.knownEstimates ??= estimateModule(this.module, this.scopes, this.setup));
  }
}

function levelOf(rule: Rule, overrides: LevelOverrides | undefined): Rule["level"] {
  const override = overrides?.[rule.name];
  return override === undefined || override === "off" ? rule.level : override;
}
