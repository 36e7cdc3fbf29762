/** Analyses of the open units, made when asked for and kept until the text or the settings change. */
import { analyze, couldMatter } from "../analysis";
import type { Analysis } from "../analysis";
import type { FollowedImports, ImportedFiles } from "../workspace/imports";
import type { Configuration, Settings } from "./configuration";
import { describe } from "./documents";
import type { TextUnit } from "./text-unit";

export type Outcome =
  | { readonly kind: "analysed"; readonly analysis: Analysis; readonly milliseconds: number }
  | { readonly kind: "not-training" }
  | { readonly kind: "too-large" }
  | { readonly kind: "failed" }
  | { readonly kind: "disabled" };

interface Kept {
  readonly revision: number;
  readonly generation: number;
  readonly outcome: Outcome;
  readonly imports: FollowedImports | undefined;
  /** Tells outcomes apart. */
  readonly serial: number;
}

export class Analyses {
  private readonly kept = new WeakMap<TextUnit, Kept>();
  private made = 0;

  constructor(
    private readonly configuration: Configuration,
    private readonly logError: (text: string) => void,
    private readonly now: () => number,
    private readonly finished: (unit: TextUnit, outcome: Outcome) => void,
    private readonly followImports: (unit: TextUnit) => FollowedImports | undefined = () => undefined,
  ) {}

  /** Synchronous, so that what is answered always belongs to the text that is current. */
  of(unit: TextUnit, settings: Settings): Outcome {
    return this.current(unit, settings).outcome;
  }

  /** Another number whenever the outcome is another one: the text, the settings or an imported file changed. */
  serialOf(unit: TextUnit, settings: Settings): number {
    return this.current(unit, settings).serial;
  }

  /** True when an imported file changed, came or went since the unit was analysed. */
  isOutdated(unit: TextUnit): boolean {
    return this.kept.get(unit)?.imports?.isCurrent() === false;
  }

  /** What the analysis of a unit followed; `undefined` where there was none, or nothing to follow. */
  importsOf(unit: TextUnit): ImportedFiles | undefined {
    return this.kept.get(unit)?.imports?.files();
  }

  private current(unit: TextUnit, settings: Settings): Kept {
    const { revision } = unit;
    const { generation } = this.configuration;
    const before = this.kept.get(unit);
    if (
      before?.revision === revision &&
      before.generation === generation &&
      before.imports?.isCurrent() !== false
    )
      return before;
    const imports = this.followImports(unit);
    const outcome = this.make(unit, settings, imports);
    const kept = { revision, generation, outcome, imports, serial: ++this.made };
    this.kept.set(unit, kept);
    this.finished(unit, outcome);
    return kept;
  }

  private make(unit: TextUnit, settings: Settings, imports: FollowedImports | undefined): Outcome {
    if (!settings.enable) return { kind: "disabled" };
    if (unit.isTooLarge) return { kind: "too-large" };
    if (!couldMatter(unit.text)) return { kind: "not-training" };
    const start = this.now();
    try {
      const analysis = analyze(unit.parsed(), {
        ...settings.analysis,
        isInCells: unit.isInCells,
        resolveImport: imports?.resolve,
        readBeside: imports?.readBeside,
      });
      for (const { rule, error } of analysis.failures)
        this.logError(`${rule} broke on ${unit.uri}: ${describe(error)}`);
      return { kind: "analysed", analysis, milliseconds: this.now() - start };
    } catch (error) {
      unit.startOver();
      this.logError(`${unit.uri} could not be analysed: ${describe(error)}`);
      return { kind: "failed" };
    }
  }
}
