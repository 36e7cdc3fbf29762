/** Analyses of the open units, made when asked for and kept until the text or the settings change. */
import { analyze, couldMatter } from "../analysis";
import type { Analysis } from "../analysis";
import type { ResolveImport } from "../python/resolve-import";
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
}

export class Analyses {
  private readonly kept = new WeakMap<TextUnit, Kept>();

  constructor(
    private readonly configuration: Configuration,
    private readonly logError: (text: string) => void,
    private readonly now: () => number,
    private readonly finished: (unit: TextUnit, outcome: Outcome) => void,
    private readonly resolverOf: (uri: string) => ResolveImport | undefined = () => undefined,
  ) {}

  /** Synchronous, so that what is answered always belongs to the text that is current. */
  of(unit: TextUnit, settings: Settings): Outcome {
    const { revision } = unit;
    const { generation } = this.configuration;
    const kept = this.kept.get(unit);
    if (kept?.revision === revision && kept.generation === generation) return kept.outcome;
    const outcome = this.make(unit, settings);
    this.kept.set(unit, { revision, generation, outcome });
    this.finished(unit, outcome);
    return outcome;
  }

  private make(unit: TextUnit, settings: Settings): Outcome {
    if (!settings.enable) return { kind: "disabled" };
    if (unit.isTooLarge) return { kind: "too-large" };
    if (!couldMatter(unit.text)) return { kind: "not-training" };
    const start = this.now();
    try {
      const analysis = analyze(unit.parsed(), {
        ...settings.analysis,
        resolveImport: this.resolverOf(unit.uri),
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
